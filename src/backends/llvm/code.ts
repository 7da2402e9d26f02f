// The text of one function as it grows: fresh names, blocks, phis that are completed later, constants, and the template printer
// that the op rows are written in.
// Invariants: a name is given once; `current` is the label of the block that lines go into; constants stand in the entry block.
import { HarrierError } from '../../errors.ts'
import type { Literal, Type } from '../../ir/types.ts'
import { MOST_STACK } from './interface.ts'
import { BITS_OF, isZeroLiteral, laneType, literalText, mangled, type LaneType } from './lanes.ts'

/** What the tokens of a template stand for; see {@link Code.expand}. */
export interface Bindings {
  readonly width: number
  /** Type of the operands that T of the op's signature names. */
  readonly T: Type
  /** Type of the result. */
  readonly R: Type
  readonly operands: readonly string[]
}

export interface Code {
  /** Label of the block under construction. */
  readonly current: string
  fresh(): string
  /** Adds an instruction without a result. */
  line(text: string): void
  /** Adds an instruction and gives the name of its result. */
  value(text: string): string
  /** Reserves memory on the stack, in the entry block wherever the code stands, so that the compiler can keep it in registers. */
  alloca(type: string, alignment: number): string
  /** Names a block to jump to; `begin` starts it. */
  label(hint: string): string
  begin(label: string): void
  branch(condition: string, yes: string, no: string): void
  jump(label: string): void
  /** Adds a phi whose incoming pairs are given later. */
  phi(type: string, incoming?: readonly Incoming[]): Phi
  call(result: string, name: string, args: readonly string[]): string
  /**
   * Adds the instructions of a template and gives the name of the last one's result. Tokens: `$0 $1 $2` operands; `$T $R` operand and
   * result type, `$I` the integer type as wide as T, `$i1 $i8 $i32 $i64 $f32 $f64` these types, each as lanes of the width; any of
   * them with a number in parentheses is that constant in every lane; `#T` and the like the type as it stands in intrinsic names;
   * `%name` a name of the template's own.
   */
  expand(template: string, bindings: Bindings): string
  /** A literal in every lane, as an operand. */
  constant(type: Type, literal: Literal, width: number): string
  /** A scalar operand in every lane; costs nothing where it is loop-invariant. */
  splat(type: LaneType, scalar: string, width: number): string
  /** The finished function. */
  finish(): string
}

export interface Incoming {
  readonly value: string
  readonly block: string
}
export interface Phi {
  readonly name: string
  add(incoming: Incoming): void
}

export interface Declarations {
  readonly lines: Set<string>
}

/** Of every function. no-builtins: a loop that fills memory stays a loop, where it would become a call of memset. */
export const ATTRIBUTES = `nounwind "no-builtins" "warn-stack-size"="${MOST_STACK}"`

const TOKEN = /([$#])(T|R|I|i1|i8|i32|i64|f32|f64)\b(?:\((-?\d+)\))?|\$(\d)|%[a-z]\w*/g
const FIXED: Record<string, LaneType> = { i1: 'bool', i8: 'i8', i32: 'i32', i64: 'i64', f32: 'f32', f64: 'f64' }

export function createCode(header: string, declarations: Declarations): Code {
  const constants = new Map<string, string>()
  const entry: string[] = []
  const lines: (string | (() => string))[] = []
  let names = 0
  let labels = 0
  let current = 'entry'

  const fresh = () => `%v${++names}`
  const line = (text: string) => void lines.push(`  ${text}`)
  const value = (text: string) => {
    const name = fresh()
    line(`${name} = ${text}`)
    return name
  }

  function declare(result: string, name: string, args: readonly string[]): void {
    const types = args.map((argument) => argument.slice(0, argument.lastIndexOf(' ')))
    // Weak, as a machine may have no OpenMP runtime: the parallel entry is then never called.
    const linkage = name === 'GOMP_parallel' ? 'extern_weak ' : ''
    declarations.lines.add(`declare ${linkage}${result} @${name}(${types.join(', ')})`)
  }

  /** Declares the intrinsic that a line of a template calls. */
  function declareCall(text: string): void {
    const found = /call (.+?) @([\w.]+)\((.*)\)$/.exec(text)
    // Commas inside a vector type do not occur, so that each one separates two arguments.
    if (found) declare(found[1]!, found[2]!, found[3]!.split(', '))
  }

  function constant(type: Type, literal: Literal, width: number): string {
    const scalar = literalText(type, literal)
    if (width === 1) return scalar
    if (isZeroLiteral(type, literal)) return 'zeroinitializer'
    return splatIn(entry, `${type}:${scalar}:${width}`, type, scalar, width)
  }

  function splatIn(target: string[], key: string, type: LaneType, scalar: string, width: number): string {
    const known = constants.get(key)
    if (known) return known
    const one = fresh()
    const all = fresh()
    const vector = laneType(type, width)
    target.push(`  ${one} = insertelement ${vector} poison, ${laneType(type, 1)} ${scalar}, i64 0`)
    target.push(`  ${all} = shufflevector ${vector} ${one}, ${vector} poison, <${width} x i32> zeroinitializer`)
    constants.set(key, all)
    return all
  }

  const code: Code = {
    get current() {
      return current
    },
    fresh,
    line,
    value,
    alloca(type, alignment) {
      const name = fresh()
      entry.push(`  ${name} = alloca ${type}, align ${alignment}`)
      return name
    },
    label: (hint) => `${hint}${++labels}`,
    begin(label) {
      lines.push(`${label}:`)
      current = label
    },
    branch: (condition, yes, no) => line(`br i1 ${condition}, label %${yes}, label %${no}`),
    jump: (label) => line(`br label %${label}`),
    phi(type, incoming = []) {
      const name = fresh()
      const pairs = [...incoming]
      lines.push(
        () => `  ${name} = phi ${type} ${pairs.map(({ value: from, block }) => `[ ${from}, %${block} ]`).join(', ')}`,
      )
      return { name, add: (pair) => void pairs.push(pair) }
    },
    call(result, name, args) {
      declare(result, name, args)
      const text = `call ${result} @${name}(${args.join(', ')})`
      if (result !== 'void') return value(text)
      line(text)
      return ''
    },
    expand(template, { width, T, R, operands }) {
      const locals = new Map<string, string>()
      const typeOf = (token: string): LaneType =>
        token === 'T' ? T : token === 'R' ? R : token === 'I' ? BITS_OF[T] : FIXED[token]!
      const expandLine = (text: string): string =>
        text.replace(TOKEN, (whole, sigil: string, token: string, literal: string | undefined, operand: string) => {
          if (operand !== undefined) return operands[Number(operand)]!
          if (sigil === undefined) {
            const name = locals.get(whole) ?? fresh()
            locals.set(whole, name)
            return name
          }
          const type = typeOf(token)
          if (sigil === '#') return mangled(type, width)
          if (literal === undefined) return laneType(type, width)
          if (type === 'i8' || type === 'ptr') throw new HarrierError('E_INTERNAL', `no constant of type ${type}`)
          return constant(type, type === 'i64' ? BigInt(literal) : Number(literal), width)
        })
      let result = ''
      for (const raw of template.split('\n')) {
        const text = expandLine(raw.trim())
        if (text === '') continue
        declareCall(text)
        if (text.startsWith('%')) line(text)
        else result = value(text)
      }
      return result
    },
    constant,
    splat: (type, scalar, width) => {
      if (width === 1) return scalar
      const vector = laneType(type, width)
      const one = value(`insertelement ${vector} poison, ${laneType(type, 1)} ${scalar}, i64 0`)
      return value(`shufflevector ${vector} ${one}, ${vector} poison, <${width} x i32> zeroinitializer`)
    },
    finish: () =>
      [
        `${header} ${ATTRIBUTES} {`,
        'entry:',
        ...entry,
        ...lines.map((text) => (typeof text === 'string' ? text : text())),
        '}',
        '',
      ].join('\n'),
  }
  return code
}
