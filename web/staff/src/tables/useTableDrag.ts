import { onScopeDispose, shallowRef } from 'vue'

import type { Table } from './floor'
import { cellAt, spotOf, widthOf, type Cell } from './plan'
import type { PlanDraft } from './planDraft'

/** A pointer that has moved less than this, in px, still presses the table instead of dragging it. */
const threshold = 5

/** Within this distance from an edge, in px, dragging scrolls by this many px per frame. */
const edge = 40
const speed = 10

/** A table that is being dragged. */
export interface Dragged {
  table: Table
  box: { left: number; top: number; width: number; height: number } // under the pointer, in px
  cell: Cell | undefined // under the table; undefined outside of the plan
  away: boolean // over the tables that are not on the plan
  fits: boolean
}

/** A table under a pressed pointer. */
interface Held {
  table: Table
  element: HTMLElement
  start: { x: number; y: number }
  grab: { x: number; y: number; width: number; height: number } // the pointer within the table, and its size
  size: { columns: number; rows: number } // of the plan
}

/**
 * Drags tables by mouse, pen or touch within their section, from and to the plan. Escape ends a drag without a change. `drop`
 * is called with the cell in which a table was dropped, or undefined if it was taken off the plan.
 */
export function useTableDrag(draft: () => PlanDraft | undefined, drop: (table: Table, cell: Cell | undefined) => void) {
  const dragged = shallowRef<Dragged>()
  let held: Held | undefined
  let pointer = { x: 0, y: 0 }
  let ended = false // the click after a drag does not press the table
  let frameRequest = 0

  function start(e: PointerEvent, table: Table, size: { columns: number; rows: number }): void {
    ended = false
    if (e.button !== 0 || !e.isPrimary) return
    const element = e.currentTarget as HTMLElement
    const { left, top, width, height } = element.getBoundingClientRect()
    element.setPointerCapture(e.pointerId)
    held = { table, element, start: { x: e.clientX, y: e.clientY }, grab: { x: e.clientX - left, y: e.clientY - top, width, height }, size }
  }

  function move(e: PointerEvent): void {
    if (!held) return
    pointer = { x: e.clientX, y: e.clientY }
    if (dragged.value) {
      update()
    } else if (Math.hypot(e.clientX - held.start.x, e.clientY - held.start.y) >= threshold) {
      update()
      frameRequest = requestAnimationFrame(scroll)
    }
  }

  function end(): void {
    const d = dragged.value
    cancel()
    if (!d) return
    if (d.cell && d.fits) drop(d.table, d.cell)
    else if (d.away) drop(d.table, undefined)
  }

  function cancel(): void {
    ended = dragged.value !== undefined
    held = undefined
    dragged.value = undefined
    cancelAnimationFrame(frameRequest)
  }

  /** Finds the parts of the section in which the table is dragged. */
  function parts() {
    const section = held?.element.closest('section')
    const [frame, grid, tray] = ['.frame', '.plan', '.tray'].map((s) => section?.querySelector(s))
    return { frame, grid: grid?.getBoundingClientRect(), tray }
  }

  function update(): void {
    if (!held) return
    const { frame, grid, tray } = parts()
    const { table, grab, size } = held
    const { x, y } = pointer
    let cell: Cell | undefined
    if (grid && frame && contains(frame, x, y)) {
      const side = grid.width / size.columns
      // The cell under the middle of the table's first cell. A table in the tray is smaller than a cell.
      const [left, top] = [x - Math.min(grab.x, side * widthOf(table.shape)), y - Math.min(grab.y, side)]
      cell = cellAt(left + side / 2, top + side / 2, grid, size)
    }
    dragged.value = {
      table, cell, box: { left: x - grab.x, top: y - grab.y, width: grab.width, height: grab.height },
      away: cell === undefined && tray !== undefined && tray !== null && contains(tray, x, y),
      fits: cell !== undefined && (draft()?.fits(table.id, { ...spotOf(table), cell }) ?? false),
    }
  }

  /** Scrolls the plan sideways and the page up or down while the pointer is near their edges. */
  function scroll(): void {
    if (!dragged.value) return
    const { frame } = parts()
    const box = frame?.getBoundingClientRect()
    const { x, y } = pointer
    const direction = (at: number, from: number, to: number) => (at < from + edge ? -speed : at > to - edge ? speed : 0)
    if (frame && box && contains(frame, x, y)) frame.scrollLeft += direction(x, box.left, box.right)
    scrollBy(0, direction(y, 0, innerHeight))
    update()
    frameRequest = requestAnimationFrame(scroll)
  }

  const escape = (e: KeyboardEvent) => {
    if (e.key === 'Escape') cancel()
    ended = false
  }
  addEventListener('keydown', escape)
  onScopeDispose(() => {
    removeEventListener('keydown', escape)
    cancel()
  })

  return {
    dragged, start, move, end, cancel,
    /** Whether the current click ends a drag. */
    endsDrag: () => {
      const was = ended
      ended = false
      return was
    },
  }
}

function contains(element: Element, x: number, y: number): boolean {
  const { left, right, top, bottom } = element.getBoundingClientRect()
  return x >= left && x <= right && y >= top && y <= bottom
}
