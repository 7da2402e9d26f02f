// Emits the values of a primal once more, in the graph of a derivative: as often and wherever its sweeps need them.
// Invariants: records on tapes are repeated with the values, other effects only where `keep` takes them; the last emission of a value
// is the one that it stands for.
import { HarrierError } from '../errors.ts'
import type { Builder, SidedOp } from '../ir/build.ts'
import { copyEffect, copyValue, type Renaming } from '../ir/copy.ts'
import { isConstruct, isEffect, type Construct, type PlaneEffect, type Region, type Value } from '../ir/graph.ts'
import { createValueMap } from './value-map.ts'

export interface CopierParts {
  readonly b: Builder
  readonly renaming: Renaming
  /** Takes an effect of the primal on a plane, with its rebuilt operands. */
  readonly keep: ((effect: PlaneEffect, operands: readonly Value[]) => void) | undefined
}

export interface Copier {
  /** What a value of the primal is in the derivative. */
  primalOf(value: Value): Value
  setPrimalResult(construct: Construct, index: number, made: Value): void
  /** Enters the iteration number and the carries of a region of a loop. */
  enter(region: Region, iteration: Value, carries: readonly Value[]): void
  /** Emits the values of a region as they are. */
  copy(region: Region): void
  /** Emits the values of a region, its constructs as the caller says. */
  emit(region: Region, emitConstruct: (construct: Construct) => void): void
  copyConstruct(construct: Construct): void
}

export function createCopier({ b, renaming, keep }: CopierParts): Copier {
  const primal = createValueMap<Value>()

  function primalOf(value: Value): Value {
    const known = primal.get(value)
    if (known) return known
    if (value.op !== 'const') throw new HarrierError('E_INTERNAL', `vjp: value ${value.id} is used before it is made`)
    return b.const(value.type, value.literal)
  }

  const enter = ({ parameters }: Region, iteration: Value, carries: readonly Value[]) =>
    [iteration, ...carries].forEach((made, k) => primal.set(parameters[k]!, made))

  function copyLoop({ operands, regions }: Construct): readonly Value[] {
    const [body, condition] = regions as readonly [Region, Region]
    return b.loop({
      count: primalOf(operands[0]!),
      initial: operands.slice(1).map(primalOf),
      body(iteration, carries) {
        enter(body, iteration, carries)
        copy(body)
        return body.results.map(primalOf)
      },
      condition(iteration, carries) {
        enter(condition, iteration, carries)
        copy(condition)
        return primalOf(condition.results[0]!)
      },
    })
  }

  function copySides(op: SidedOp, { operands, regions }: Construct): readonly Value[] {
    const sides = regions.map((region) => () => {
      copy(region)
      return region.results.map(primalOf)
    })
    return b.sides(op, primalOf(operands[0]!), sides)
  }

  function copyConstruct(construct: Construct): void {
    const made = construct.op === 'loop' ? copyLoop(construct) : copySides(construct.op, construct)
    made.forEach((value, k) => primal.setResult(construct, k, value))
  }

  function emit({ nodes }: Region, emitConstruct: (construct: Construct) => void): void {
    for (const node of nodes) {
      if (isConstruct(node)) emitConstruct(node)
      else {
        const operands = node.operands.map(primalOf)
        if (!isEffect(node)) primal.set(node, copyValue(b, node, operands, renaming))
        else if (node.op === 'record') copyEffect(b, node, operands, renaming)
        else keep?.(node, operands)
      }
    }
  }

  const copy = (region: Region): void => emit(region, copyConstruct)

  return { primalOf, setPrimalResult: primal.setResult, enter, copy, emit, copyConstruct }
}
