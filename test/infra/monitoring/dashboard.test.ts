import { describe, expect, it } from 'vitest'
import { graphsIn, tellingAlarms } from '../../support/alarm-template.ts'
import { synthesised } from '../../support/stack-template.ts'

const template = synthesised('prod')
const graphs = graphsIn(template)

describe('the dashboard', () => {
  it('says the unit of every graph, and shows something in each', () => {
    expect(graphs.filter(({ title }) => !/ \([^()]+\)$/.test(title))).toStrictEqual([])
    expect(graphs.filter(({ metrics, expressions }) => metrics.length + expressions.length === 0)).toStrictEqual([])
    expect(new Set(graphs.map(({ title }) => title)).size).toBe(graphs.length)
  })

  it('shows every alarm with its threshold', () => {
    const shown = graphs
      .filter(({ threshold }) => threshold !== undefined)
      .map(({ title, threshold }) => [title.replace(/ \(.*/, ''), threshold])

    expect(shown).toStrictEqual(tellingAlarms(template, 'prod').map(({ id, threshold }) => [id, threshold]))
  })

  it('calculates only with metrics that its graph has', () => {
    const unknown = graphs.flatMap(({ expressions, metrics }) =>
      metrics.length === 0 ? expressions.filter((text) => !text.startsWith('SEARCH(')) : [],
    )

    expect(unknown).toStrictEqual([])
  })
})
