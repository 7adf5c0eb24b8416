"""Files of lines translated in parts that outlive an interruption."""
