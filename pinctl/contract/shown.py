"""Signatures and places of a surface as a person reads them."""

from pinctl.contract.model import Kind, Parameter, Place, Signature

_BARE = {Kind.REST: "*", Kind.KEYWORD_REST: "**"}


def at(place: Place) -> str:
    """`FILE:LINE`."""
    return f"{place.file}:{place.line}" if place.line else place.file


def parameters(signature: Signature) -> list[str]:
    """The parameters of a signature as Python writes them, with `/` and `*` where they are needed."""
    told: list[str] = []
    kinds = [p.kind for p in signature.parameters]
    for number, parameter in enumerate(signature.parameters):
        if parameter.kind is Kind.KEYWORD and not {Kind.KEYWORD, Kind.REST} & set(kinds[:number]):
            told.append("*")
        told.append(_one(parameter, number))
        if parameter.kind is Kind.POSITIONAL and Kind.POSITIONAL not in kinds[number + 1 :]:
            told.append("/")
    return told


def _one(parameter: Parameter, number: int) -> str:
    name = f"{_BARE.get(parameter.kind, '')}{parameter.name or f'arg{number}'}"
    return name if parameter.default is None else f"{name}={parameter.default}"
