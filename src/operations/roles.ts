// Roles: which operand of an operation an object stands for. A role is the text `input0` … `input255` or `output0` … `output255`;
// output 0 is the one that `OperandRole` calls OUTPUT.

/** How many inputs, and how many outputs, an operation can have. */
export const ROLE_LIMIT = 256

type NumbersBelow<Limit extends number, Found extends number[] = []> = Found['length'] extends Limit
  ? Found[number]
  : NumbersBelow<Limit, [...Found, Found['length']]>

type RoleNumber = NumbersBelow<typeof ROLE_LIMIT>

export type InputRole = `input${RoleNumber}`
export type OutputRole = `output${RoleNumber}`
export type Role = InputRole | OutputRole

/** Something for each role of an operation. Those that the library hands out are frozen. */
export type RoleMap<T> = { readonly [R in Role]?: T }

type OperandRoles = { readonly [N in RoleNumber as `INPUT_${N}`]: `input${N}` } & { readonly OUTPUT: 'output0' } & {
  readonly [N in Exclude<RoleNumber, 0> as `OUTPUT_${N}`]: `output${N}`
}

const numbers = Array.from({ length: ROLE_LIMIT }, (_, number) => number)

/** The roles by their documented names: `INPUT_0`, `INPUT_1`, …, and `OUTPUT`, `OUTPUT_1`, …. */
export const OperandRole = Object.freeze(
  Object.fromEntries([
    ...numbers.map((number) => [`INPUT_${number}`, `input${number}`]),
    ...numbers.map((number) => [number === 0 ? 'OUTPUT' : `OUTPUT_${number}`, `output${number}`]),
  ]),
) as OperandRoles

export interface RoleParts {
  readonly direction: 'input' | 'output'
  readonly number: number
}

const PARTS: ReadonlyMap<string, RoleParts> = new Map(
  (['input', 'output'] as const).flatMap((direction) =>
    numbers.map((number) => [`${direction}${number}`, { direction, number }] as const),
  ),
)

export function roleParts(role: Role): RoleParts {
  return PARTS.get(role)!
}

export function isRole(text: unknown): text is Role {
  return typeof text === 'string' && PARTS.has(text)
}

/** A frozen map from role to value. */
export function roleMap<T>(entries: Iterable<readonly [Role, T]>): RoleMap<T> {
  return Object.freeze(Object.fromEntries(entries))
}
