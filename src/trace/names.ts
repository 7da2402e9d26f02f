// Which names parameters and outputs may have.

/** Letters, digits and `_`, not starting with a digit. `__proto__` would set a prototype instead of a key. */
export const isIdentifier = (name: string): boolean => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && name !== '__proto__'

/** A key that JavaScript would move to the front of the object, whatever order it was written in. */
export const isIntegerLike = (name: string): boolean => /^(0|[1-9][0-9]*)$/.test(name) && Number(name) < 2 ** 32 - 1
