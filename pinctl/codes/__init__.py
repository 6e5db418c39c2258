"""Finding codes: `finding` makes a finding of one, `table` knows them all."""

from pinctl.finding import Finding, Location, Severity, Span


def finding(
    code: str,
    message: str,
    *,
    file: str | None = None,
    span: Span | None = None,
    pin: str | None = None,
    selector: str | None = None,
    expected: str | None = None,
    found: str | None = None,
    hint: str | None = None,
    related: tuple[Location, ...] = (),
    severity: Severity | None = None,
) -> Finding:
    """A `Finding` with its code's usual severity. Raises KeyError for a code that is not in the table."""
    # Here, since a clean run makes no finding and need not load what explains them.
    from pinctl.codes.table import CODES

    return Finding(
        code=code,
        severity=severity or CODES[code].severity,
        message=message,
        file=file,
        span=span,
        pin=pin,
        selector=selector,
        expected=expected,
        found=found,
        hint=hint,
        related=related,
    )
