// Emits the nodes of a region in order, each by the row of its op.
import { HarrierError } from '../../errors.ts'
import { isConstruct, isEffect, type Node, type Region, type Value } from '../../ir/graph.ts'
import { constructs } from './control.ts'
import { effects } from './effects.ts'
import type { Emitter, Mask } from './emitter.ts'
import { isReading, leaves } from './leaves.ts'
import { isEmitted, rows } from './rows.ts'

/** @param mask the lanes that run */
export function emitNodes(e: Emitter, nodes: readonly Node[], mask: Mask): void {
  for (const node of nodes) {
    if (isConstruct(node)) {
      constructs[node.op](e, node, mask, (region: Region, inner: Mask) => emitNodes(e, region.nodes, inner))
    } else if (isEffect(node)) effects[node.op](e, node, mask)
    else emitValue(e, node, mask)
    e.retire(node)
  }
}

function emitValue(e: Emitter, value: Value, mask: Mask): void {
  const { op, operands, type } = value
  if (isReading(op)) leaves[op](e, value, mask)
  else if (isEmitted(op)) {
    const { lanes } = e.frame
    e.define(value, (vector, temporary) =>
      rows[op](
        {
          lanes,
          constant: e.constant,
          temporary,
          literal: (k) => {
            const operand = operands[k]!
            return operand.op === 'const' ? operand.literal : undefined
          },
          isUniform: (k) => e.uniformity.isUniform(operands[k]!),
        },
        operands.map((operand) => e.get(operand, vector)),
        operands[0]!.type,
        type,
      ),
    )
  } else throw new HarrierError('E_INTERNAL', `wasm backend: the graph holds '${op}', which lowering writes out`)
}
