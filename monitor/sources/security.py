"""TLS and SASL for the Kafka client, from the settings."""

from __future__ import annotations

import ssl

from faststream.security import BaseSecurity, SASLPlaintext, SASLScram256, SASLScram512

from monitor.errors import ConfigurationError
from monitor.sources.settings import KafkaSettings

_MECHANISMS = {"PLAIN": SASLPlaintext, "SCRAM-SHA-256": SASLScram256, "SCRAM-SHA-512": SASLScram512}


def build_security(settings: KafkaSettings) -> BaseSecurity | None:
    """None for plain text. Raises ConfigurationError."""
    protocol = settings.security_protocol
    if protocol == "PLAINTEXT":
        return None
    context = _build_context(settings) if protocol in {"SSL", "SASL_SSL"} else None
    if protocol == "SSL":
        return BaseSecurity(ssl_context=context, use_ssl=True)
    if not settings.sasl_username or not settings.sasl_password:
        raise ConfigurationError("kafka.sasl_username", f"{protocol} needs sasl_username and sasl_password")
    try:
        mechanism = _MECHANISMS[settings.sasl_mechanism]
    except KeyError:
        raise ConfigurationError(
            "kafka.sasl_mechanism", f"unknown; choose one of {', '.join(_MECHANISMS)}"
        ) from None
    return mechanism(
        settings.sasl_username, settings.sasl_password, ssl_context=context, use_ssl=context is not None
    )


def _build_context(settings: KafkaSettings) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cafile=settings.ssl_ca_file or None)
    except (OSError, ssl.SSLError):
        raise ConfigurationError(
            "kafka.ssl_ca_file", "cannot be read as PEM certificates; give the CA's own"
        ) from None
    if settings.ssl_cert_file:
        try:
            context.load_cert_chain(
                settings.ssl_cert_file, settings.ssl_key_file or None, settings.ssl_key_password or None
            )
        except (OSError, ssl.SSLError):
            raise ConfigurationError("kafka.ssl_cert_file", "certificate and key cannot be read") from None
    return context
