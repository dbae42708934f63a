import { expect, test } from 'vitest'

import { brief, type Kind } from './figure'
import { optionOf } from './option'

const colours = { ink: '#000', line: '#000', surface: '#fff', series: ['#000'], heat: ['#fff', '#000'] as [string, string] }

test.each<[Kind, string]>([['time', 'VND'], ['money', 'VND'], ['money', 'USD'], ['share', 'VND'], ['number', 'VND']])(
  'two values of an axis of %s in %s are never written alike', (measure, currency) => {
    const chart = { kind: 'bars' as const, names: ['a'], series: [{ name: 's', values: [1] }], measure }
    const { yAxis } = optionOf(chart, currency, colours, { title: '', description: '' }, true) as { yAxis: { minInterval: number } }
    const labels = [0, 1, 2, 3, 4].map((n) => brief(n * yAxis.minInterval, measure, currency))
    expect(new Set(labels).size).toBe(labels.length)
  })
