// Draws a graph in the DOT language of Graphviz: values and effects as nodes, operands as edges, regions as clusters.
import { isConstruct, isEffect, isPlaneEffect, type Graph, type Node, type Region, type Value } from './graph.ts'

const quote = (text: string): string => `"${text.replaceAll('"', '\\"')}"`

/** A picture of the graph for `dot -Tsvg`. */
export function toDot({ planes, body }: Graph): string {
  const names = new Map<unknown, string>()
  const lines: string[] = []
  const nameOf = (node: unknown): string => {
    const known = names.get(node) ?? `n${names.size}`
    names.set(node, known)
    return known
  }

  const planeLabel = (plane: number, component: number) =>
    planes[plane]!.components === 1 ? planes[plane]!.name : `${planes[plane]!.name}[${component}]`

  function labelOf(node: Node): string {
    if (isEffect(node)) return isPlaneEffect(node) ? `${node.op} ${planeLabel(node.plane, node.component)}` : node.op
    if (isConstruct(node)) return node.op
    if (node.op === 'load' || node.op === 'gather') return `${node.op} ${planeLabel(node.plane, node.component)}`
    return node.op === 'uniform' ? `uniform ${planes[node.plane]!.name}` : `${node.op} ${node.type}`
  }

  function edge(from: Value, to: string): void {
    if (from.op === 'const') {
      const literal = `${to}_${nameOf(from)}`
      lines.push(`${literal} [label=${quote(String(from.literal))}, shape=plaintext]`, `${literal} -> ${to}`)
    } else if (from.op === 'result') lines.push(`${nameOf(from.source)} -> ${to} [label=${quote(String(from.index))}]`)
    else lines.push(`${nameOf(from)} -> ${to}`)
  }

  function draw({ parameters, nodes, results }: Region, label: string): void {
    for (const parameter of parameters)
      lines.push(`${nameOf(parameter)} [label=${quote(`parameter ${parameter.type}`)}, shape=ellipse]`)
    for (const node of nodes) {
      const name = nameOf(node)
      lines.push(`${name} [label=${quote(labelOf(node))}, shape=${isEffect(node) ? 'box3d' : 'box'}]`)
      for (const operand of node.operands) edge(operand, name)
      if (isConstruct(node)) {
        node.regions.forEach((region, k) => {
          lines.push(`subgraph cluster_${name}_${k} {`, `label=${quote(`${node.op} region ${k}`)}`)
          draw(region, `${name}_${k}`)
          lines.push('}')
        })
      }
    }
    if (results.length > 0) {
      lines.push(`${label}_out [label="results", shape=ellipse]`)
      for (const result of results) edge(result, `${label}_out`)
    }
  }

  draw(body, 'body')
  return ['digraph kernel {', ...lines.map((line) => `  ${line}`), '}', ''].join('\n')
}
