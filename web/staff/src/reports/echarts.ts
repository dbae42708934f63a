import { BarChart, HeatmapChart, LineChart } from 'echarts/charts'
import { AriaComponent, GridComponent, LegendComponent, TooltipComponent, VisualMapContinuousComponent } from 'echarts/components'
import { init, use, type EChartsCoreOption } from 'echarts/core'
import { CanvasRenderer } from 'echarts/renderers'

// Only the parts of ECharts that the reports use. This file is loaded with the first report.
use([
  BarChart, HeatmapChart, LineChart, AriaComponent, GridComponent, LegendComponent, TooltipComponent, VisualMapContinuousComponent,
  CanvasRenderer,
])

/** Draws a chart into an element, replacing the previous one, and follows the element's size until the returned function is called. */
export function drawer(element: HTMLElement) {
  // ECharts empties its element by setting innerHTML, which the content security policy forbids; the element is empty
  // already.
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
