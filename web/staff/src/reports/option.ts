import type { EChartsCoreOption } from 'echarts/core'

import { minorUnitsPerMain } from '@shared/money'
import { brief, said, type Bars, type Chart, type Heat } from './figure'

/** The theme's colours that a chart uses. */
export interface Colours {
  ink: string
  line: string
  surface: string
  series: string[]
  heat: [string, string]
}

/** The description of a chart for screen readers. */
export interface Words {
  title: string
  description: string
}

/** Converts a chart to an option of ECharts. */
export function optionOf(chart: Chart, currency: string, colours: Colours, words: Words, calm: boolean): EChartsCoreOption {
  return {
    animation: !calm,
    color: colours.series,
    textStyle: { color: colours.ink, fontFamily: 'inherit' },
    // Patterns distinguish the series for colour-blind users.
    aria: { enabled: true, label: { description: `${words.title}. ${words.description}` }, decal: { show: chart.kind !== 'heat' && chart.series.length > 1 } },
    grid: { left: 8, right: 16, top: chart.kind !== 'heat' && chart.series.length > 1 ? 40 : 16, bottom: chart.kind === 'heat' ? 56 : 8, outerBoundsMode: 'same', outerBoundsContain: 'axisLabel' },
    // The tooltip is drawn as text, because the content security policy allows no markup from scripts.
    tooltip: {
      renderMode: 'richText', trigger: chart.kind === 'heat' ? 'item' : 'axis', confine: true, backgroundColor: colours.surface,
      borderColor: colours.line, textStyle: { color: colours.ink }, axisPointer: { type: 'shadow' },
      ...(chart.kind === 'heat' ? { formatter: (p: { value: Heat['cells'][number] }) => heatText(chart, p.value, currency) } : { valueFormatter: (v: unknown) => said(typeof v === 'number' ? v : null, chart.measure, currency) }),
    },
    ...(chart.kind === 'heat' ? heat(chart, colours) : bars(chart, currency, colours)),
  }
}

function heatText(chart: Heat, [x, y, value]: Heat['cells'][number], currency: string): string {
  return `${chart.down[y] ?? ''} ${chart.names[x] ?? ''}: ${said(value, chart.measure, currency)}`
}

function bars(chart: Bars, currency: string, colours: Colours) {
  const names = {
    type: 'category', data: chart.names, axisLine: { lineStyle: { color: colours.line } }, axisTick: { show: false },
    axisLabel: { color: colours.ink, hideOverlap: true, ...(chart.kind === 'rows' ? { width: 130, overflow: 'truncate' } : {}) },
    inverse: chart.kind === 'rows', boundaryGap: chart.kind !== 'lines',
  }
  const values = {
    type: 'value', splitLine: { lineStyle: { color: colours.line } }, minInterval: minStep(chart.measure, currency), splitNumber: 4,
    axisLabel: { color: colours.ink, hideOverlap: true, formatter: (v: number) => brief(v, chart.measure, currency) },
  }
  return {
    legend: { show: chart.series.length > 1, top: 0, textStyle: { color: colours.ink } },
    xAxis: chart.kind === 'rows' ? values : names,
    yAxis: chart.kind === 'rows' ? names : values,
    series: chart.series.map((s) => ({
      name: s.name, type: chart.kind === 'lines' ? 'line' : 'bar', data: s.values, barMaxWidth: 36, connectNulls: true,
      ...(chart.stacked ? { stack: 'all' } : {}),
    })),
  }
}

/** The smallest step of an axis at which the labels of neighbouring values differ. */
function minStep(measure: Bars['measure'], currency: string): number {
  switch (measure) {
    case 'money': return minorUnitsPerMain(currency)
    case 'share': return 0.01
    case 'time': return 60_000
    default: return 1
  }
}

function heat(chart: Heat, colours: Colours) {
  const axis = (data: string[]) => ({
    type: 'category', data, axisTick: { show: false }, axisLine: { show: false }, axisLabel: { color: colours.ink, hideOverlap: true },
  })
  return {
    xAxis: axis(chart.names),
    yAxis: { ...axis(chart.down), inverse: true },
    visualMap: {
      min: 0, max: Math.max(1, ...chart.cells.map((c) => c[2])), calculable: false, orient: 'horizontal', left: 'center', bottom: 0,
      inRange: { color: colours.heat }, textStyle: { color: colours.ink }, itemHeight: 120, precision: 0,
      text: [String(Math.max(1, ...chart.cells.map((c) => c[2]))), '0'],
    },
    series: [{ type: 'heatmap', data: chart.cells, itemStyle: { borderColor: colours.surface, borderWidth: 2, borderRadius: 4 } }],
  }
}

/** The height of a chart in pixels. */
export function heightOf(chart: Chart): number {
  if (chart.kind === 'rows') return 56 + 30 * Math.max(2, chart.names.length)
  return chart.kind === 'heat' ? 320 : 280
}

/** Whether a chart has any data. */
export function drawable(chart: Chart | undefined): chart is Chart {
  if (!chart) return false
  if (chart.kind === 'heat') return chart.cells.length > 0
  return chart.series.some((s) => s.values.some((v) => v !== null && v !== 0))
}
