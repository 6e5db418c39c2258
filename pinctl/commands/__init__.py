"""One verb a module: plain options in, an `Outcome` out. Nothing here prints or exits."""
