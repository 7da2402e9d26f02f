// Simplifies a whole graph: rebuilding folds, shares, hoists and applies identities.ts at every node, and drops what nothing needs.
import type { Graph } from './graph.ts'
import { print } from './print.ts'
import { rebuild } from './rebuild.ts'

/** The graph that rebuilding leaves as it is. One round can open up the next: a dropped carry may leave a loop without results. */
export function simplify(graph: Graph): Graph {
  let simpler = rebuild(graph)
  let text = print(simpler)
  for (;;) {
    const again = rebuild(simpler)
    const textOfAgain = print(again)
    if (textOfAgain === text) return simpler
    simpler = again
    text = textOfAgain
  }
}
