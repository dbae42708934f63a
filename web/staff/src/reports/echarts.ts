import { BarChart, HeatmapChart, LineChart } from 'echarts/charts'
import { AriaComponent, GridComponent, LegendComponent, TooltipComponent, VisualMapContinuousComponent } from 'echarts/components'
import { init, use, type EChartsCoreOption } from 'echarts/core'
import { CanvasRenderer } from 'echarts/renderers'

// Only what the reports draw; this file is fetched with the first of them.
use([
  BarChart, HeatmapChart, LineChart, AriaComponent, GridComponent, LegendComponent, TooltipComponent, VisualMapContinuousComponent,
  CanvasRenderer,
])

/** Draws into an element, over what was drawn there before, and follows its size until it is told to stop. */
export function drawer(element: HTMLElement) {
  // ECharts empties its element by writing markup, which the policy of contents forbids; it is empty already.
  Object.defineProperty(element, 'innerHTML', { value: '', writable: true })
  const chart = init(element)
  const watcher = new ResizeObserver(() => {
    chart.resize()
  })
  watcher.observe(element)
  return {
    draw(option: EChartsCoreOption) {
      chart.setOption(option, true)
    },
    stop() {
      watcher.disconnect()
      chart.dispose()
    },
  }
}
