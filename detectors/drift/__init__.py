"""Whether the style of replies has drifted between two groups of them: features, mergeable sketches, statistics, verdict."""
