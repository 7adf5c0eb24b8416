"""Files that people translate: opened, translated in parts that outlive an interruption, checked, reported, written."""
