"""Lists and dicts of known elements: names to try, tables of functions, keyword arguments made ready for a call."""

import ast
from collections.abc import Callable, Iterable, Mapping

from pinctl.contract.uses.expressions import Expressions
from pinctl.contract.uses.facts import OPAQUE


class Containers(Expressions):
    """Evaluates displays, what is taken out of them and what is done to them."""

    def _display(self, node: ast.Tuple | ast.List | ast.Set) -> int:
        values = [self.value(element) for element in node.elts]
        return OPAQUE if any(isinstance(e, ast.Starred) for e in node.elts) else self.table.display(values)

    def _dict(self, node: ast.Dict) -> int:
        held = self.table.mapping({})
        for key, element in zip(node.keys, node.values, strict=True):
            value = self.value(element)
            text = self.fold(key) if key is not None else None
            if key is None:
                held = self.merged(held, value)
            elif text is not None:
                held = self.merged(held, self.table.mapping({text: value}))
            else:
                self.value(key)
                held = self.merged(held, OPAQUE)
        return held

    def merged(self, first: int, second: int) -> int:
        """`first` with the entries of `second` over its own: dicts, or the `**kwargs` of a function."""
        if self.table.operation(first) == "keywords" or self.table.operation(second) == "keywords":
            names = dict.fromkeys((*self._keys(first), *self._keys(second)))
            return self.table.row("keywords", tuple(names), kept=False)
        ones, others = self.table.mappings(first) or [({}, True)], self.table.mappings(second) or [({}, True)]
        return self.table.union(
            self.table.mapping(one | other, more=more or further) for one, more in ones for other, further in others
        )

    def _keys(self, value: int) -> Iterable[str]:
        if self.table.operation(value) == "keywords":
            return tuple(self.table.rows[value][1])
        return [key for entries, _ in self.table.mappings(value) or () for key in entries]

    def made_dict(self, node: ast.Call) -> int:
        """What `dict(x, k=v)` gives."""
        held = self.table.mapping({})
        for argument in node.args:
            held = self.merged(held, self.value(argument))
        return self.merged(held, self._given_entries(node))

    def _given_entries(self, node: ast.Call) -> int:
        """The keywords of a call as a dict."""
        held = self.table.mapping({})
        for keyword in node.keywords:
            value = self.value(keyword.value)
            held = self.merged(held, value if keyword.arg is None else self.table.mapping({keyword.arg: value}))
        return held

    # --- taking out ---------------------------------------------------------------------------------------------------

    def _subscript(self, node: ast.Subscript) -> int:
        base = self.value(node.value)
        self.value(node.slice)
        return self.taken(base, node.slice)

    def taken(self, base: int, key: ast.expr) -> int:
        """The element of `base` for a key."""
        text = self.fold(key)
        if text is not None and self.table.dotted(base) == "sys.modules":
            return self.table.name(text)
        elements = self.table.elements(base)
        if elements is not None:
            index = key.value if isinstance(key, ast.Constant) and isinstance(key.value, int) else len(elements)
            return elements[index] if -len(elements) <= index < len(elements) else self.table.union(elements)
        entries = [entry for entries, _ in self.table.mappings(base) or () for entry in entries.items()]
        return self.table.union(value for name, value in entries if text in (None, name))

    # --- methods ------------------------------------------------------------------------------------------------------

    def method(self, node: ast.Call, func: ast.Attribute, base: int) -> int | None:
        """What a method of a list or dict gives; None where `base` is none of which the elements are known."""
        operation, name = self.table.operation(base), func.attr
        if operation == "keywords" and name == "pop" and node.args:
            self.frame.popped[self.fold(node.args[0]) or ""] = None
            return self.evaluated(node)
        if self._is_dict(base):
            return self._dict_method(node, func, base)
        return self._list_method(node, func, base) if operation == "seq" else None

    def evaluated(self, node: ast.Call) -> int:
        """Evaluate the arguments of a call of which nothing else is known."""
        for argument in (*node.args, *(keyword.value for keyword in node.keywords)):
            self.value(argument)
        return OPAQUE

    def _dict_method(self, node: ast.Call, func: ast.Attribute, base: int) -> int:
        name = func.attr
        if name == "copy":
            return base
        if name in ("items", "keys", "values"):
            return self._listed(node, name, base)
        if name == "update":
            for argument in node.args:
                base = self.merged(base, self.value(argument))
            return self._rebind(func, self.merged(base, self._given_entries(node)))
        if name in ("get", "setdefault", "pop") and node.args:
            found = self.taken(base, node.args[0])
            other = self.value(node.args[1]) if len(node.args) > 1 else OPAQUE
            text = self.fold(node.args[0])
            if name == "setdefault" and text is not None:
                self._rebind(func, self.merged(base, self.table.mapping({text: other})))
            elif name == "pop":
                self._rebind(func, self._without(base, text))
            return self.table.union((found, other)) if found != OPAQUE else other
        return self.evaluated(node)

    def _listed(self, node: ast.Call, name: str, base: int) -> int:
        """The entries of a dict as a list; OPAQUE where they are not all known."""
        maps = self.table.mappings(base)
        if maps is None or len(maps) != 1 or maps[0][1]:
            return OPAQUE
        entries = [(self.text(node, key), value) for key, value in maps[0][0].items()]
        if name == "items":
            return self.table.display([self.table.display(entry) for entry in entries])
        return self.table.display([entry[name == "values"] for entry in entries])

    def _without(self, base: int, key: str | None) -> int:
        """A dict after the entry of `key`, or of one that is not known, is taken out."""
        return self.table.union(
            self.table.mapping({k: v for k, v in entries.items() if k != key}, more=more or key is None)
            for entries, more in self.table.mappings(base) or ()
        )

    def _list_method(self, node: ast.Call, func: ast.Attribute, base: int) -> int:
        if func.attr in ("copy", "index", "count"):
            self.evaluated(node)
            return base if func.attr == "copy" else OPAQUE
        values = [self.value(argument) for argument in node.args]
        held = self.table.elements(base) or ()
        added: tuple[int, ...] | None = None
        if func.attr == "append" and values:
            added = (values[0],)
        elif func.attr == "extend" and values:
            added = self.table.elements(values[0])
        return self._rebind(func, OPAQUE if added is None else self.table.display((*held, *added)))

    def _rebind(self, func: ast.Attribute, value: int) -> int:
        """What a variable holds after a method has changed it."""
        if isinstance(func.value, ast.Name) and func.value.id in self.frame.env:
            self.bind(func.value.id, value)
        return OPAQUE

    def set_item(self, target: ast.Subscript, value: int) -> None:
        """`x["k"] = v`."""
        key, base = self.fold(target.slice), self.handle(target.value)
        self.value(target.slice)
        if isinstance(target.value, ast.Call) and getattr(target.value.func, "id", "") == "globals" and key is not None:
            self.bind_global(key, value)
            return
        known = isinstance(target.value, ast.Name) and target.value.id in self.frame.env and self._is_dict(base)
        if isinstance(target.value, ast.Name) and known:
            self.bind(target.value.id, self.merged(base, OPAQUE if key is None else self.table.mapping({key: value})))
        if not known or key is None:
            self.event("keep", value, target.lineno, target.col_offset)

    def remove_item(self, target: ast.Subscript) -> None:
        """`del x["k"]`."""
        key, base = self.fold(target.slice), self.handle(target.value)
        if self.table.operation(base) == "keywords":
            self.frame.popped[key or ""] = None
        elif isinstance(target.value, ast.Name) and target.value.id in self.frame.env and self._is_dict(base):
            self.bind(target.value.id, self._without(base, key))

    def _is_dict(self, value: int) -> bool:
        return self.table.operation(value) == "keywords" or self.table.mappings(value) is not None

    readers: Mapping[type[ast.expr], Callable[..., int]] = {
        **Expressions.readers, ast.Tuple: _display, ast.List: _display, ast.Set: _display, ast.Dict: _dict,
        ast.Subscript: _subscript,
    }  # fmt: skip
