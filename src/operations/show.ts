// How values appear in error messages.

/** A value as an error message shows it. */
export function show(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(show).join(', ')}]`
  if (typeof value === 'string') return `'${value}'`
  if (typeof value === 'function') return 'a function'
  if (typeof value === 'symbol' || typeof value !== 'object' || value === null) return String(value)
  const className: unknown = value.constructor?.name
  return typeof className === 'string' ? `an object of class ${className}` : 'an object'
}
