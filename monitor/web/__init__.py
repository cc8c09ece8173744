"""Everything over HTTP: metrics, health, schemas, and the page behind a signed link."""
