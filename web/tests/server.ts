import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const binary = fileURLToPath(new URL('../../bin/comanda', import.meta.url))
const serviceToken = 'service-token-of-the-browser-tests'

/** The password of every account of the demo. */
export const password = 'a-password-of-the-browser-tests'

export interface Table {
  branchId: string
  tableId: string
  label: string
  qrToken: string
}

/** The availability of a branch's menu today. */
interface Availability {
  branchId: string
  paused: object | null
  items: Counted[]
}

interface Counted {
  itemId: string
  dailyQuota: number | null
  held: number // in orders that are not paid yet
  used: number // in paid orders
  eightySixedUntil: string | null
}

/** A separate restaurant, the demo unless it is empty, on a free port and in a temporary folder. */
export class Server {
  url = ''
  private readonly folder = mkdtempSync(join(tmpdir(), 'comanda-web-'))
  private child: ChildProcess | undefined
  private quotas = new Map<string, number | null>() // as on a new server

  /** The set-up link that a server without the demo has printed. */
  setupLink = ''

  constructor(private settings: Record<string, string> = {}, private readonly empty = false) {}

  /** The folder for another process of the same restaurant. */
  get data(): string {
    return this.folder
  }

  /** Starts the process, with further settings if given. */
  async start(settings: Record<string, string> = {}): Promise<this> {
    this.settings = { ...this.settings, ...settings }
    this.url ||= `http://127.0.0.1:${String(await freePort())}`
    const child = spawn(binary, this.empty ? ['serve'] : ['serve', '--demo'], { env: this.env(), stdio: ['ignore', 'pipe', 'pipe'] })
    this.child = child
    let log = ''
    child.stderr.on('data', (d: Buffer) => (log = (log + d.toString()).slice(-4000)))
    await new Promise<void>((resolve, reject) => {
      let out = ''
      child.stdout.on('data', (d: Buffer) => {
        out += d.toString()
        this.setupLink = /^Set up +(\S+)$/m.exec(out)?.[1] ?? this.setupLink
        if (this.empty ? this.setupLink || /^Console +http/m.test(out) : out.includes('Guest link')) resolve()
      })
      child.once('exit', (code) => {
        reject(new Error(`the server ended with ${String(code)}: ${log}`))
      })
    })
    if (this.quotas.size === 0 && !this.empty) {
      for (const { items } of await this.availabilities()) for (const i of items) this.quotas.set(i.itemId, i.dailyQuota)
    }
    return this
  }

  /** Stops the process and keeps its data. SIGKILL leaves it no time to write anything. */
  async stop(signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<void> {
    const child = this.child
    this.child = undefined
    if (!child || child.exitCode !== null) return
    const gone = new Promise((resolve) => child.once('exit', resolve))
    child.kill(signal)
    child.kill('SIGCONT') // a frozen process would not end
    await gone
  }

  /** Freezes the process: connections to it are accepted, and nothing is answered. */
  pause(): void {
    this.child?.kill('SIGSTOP')
  }

  /** Continues a frozen process. */
  resume(): void {
    this.child?.kill('SIGCONT')
  }

  async remove(): Promise<void> {
    await this.stop()
    rmSync(this.folder, { recursive: true, force: true })
  }

  /** Sends a request with the service token. */
  async staff<T = unknown>(method: string, path: string, body?: unknown): Promise<T> {
    const response = await fetch(this.url + path, {
      method,
      headers: { Authorization: `Bearer ${serviceToken}`, 'Content-Type': 'application/json' },
      body: body === undefined ? null : JSON.stringify(body),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${String(response.status)} ${text}`)
    return (text ? JSON.parse(text) : undefined) as T
  }

  /** Returns the table with this label. Tests may have created it. */
  async table(label: string): Promise<{ id: string; link: string }> {
    const { items } = await this.staff<{ items: { id: string; label: string; link: string }[] }>('GET', '/api/tables')
    const found = items.find((t) => t.label === label)
    if (!found) throw new Error(`there is no table ${label}`)
    return found
  }

  /** Sets how many units of an item can still be sold today, regardless of earlier sales; null for no limit. */
  async quota(itemId: string, left: number | null): Promise<void> {
    await this.allow(await this.counted(itemId), left)
  }

  /** The units of an item in today's orders, paid or not. */
  async ordered(itemId: string): Promise<number> {
    const { held, used } = await this.counted(itemId)
    return held + used
  }

  /** Changes the price of an item with a new version of its menu. */
  async price(menuId: string, itemId: string, price: number): Promise<void> {
    const draft = await this.staff<{ id: string }>('POST', `/api/menus/${menuId}/versions`, {})
    await this.staff('PUT', `/api/menu-versions/${draft.id}/items/${itemId}`, { price, dailyQuota: null, isActive: true })
    await this.staff('POST', `/api/menu-versions/${draft.id}/publish`)
  }

  /**
   * Resets the server after a test: it closes all visits, ends all unpaid orders and restores the quotas of a new server.
   * Paid orders, accounts, prices and recipes stay.
   */
  async tidy(): Promise<void> {
    for (const { branchId } of await this.availabilities()) {
      const { items: orders } = await this.staff<{ items: { id: string; status: string }[] }>(
        'GET', `/api/orders?branchId=${branchId}&paymentStatus=UNPAID&size=100`)
      for (const { id, status } of orders) if (status !== 'CANCELED') await this.staff('POST', `/api/orders/${id}/cancel`)
      const { items } = await this.staff<{ items: { id: string }[] }>('GET', `/api/visits?branchId=${branchId}&status=OPEN`)
      for (const { id } of items) await this.staff('POST', `/api/visits/${id}/close`)
    }
    for (const { branchId, paused, items } of await this.availabilities()) {
      if (paused) await this.staff('POST', `/api/branches/${branchId}/resume`)
      for (const item of items) {
        if (item.eightySixedUntil) await this.staff('POST', `/api/menu-items/${item.itemId}/restore`)
        await this.allow(item, this.quotas.get(item.itemId) ?? null)
      }
    }
  }

  /** The availability of each branch. */
  private availabilities(): Promise<Availability[]> {
    return Promise.all(['1', '2'].map((id) => this.staff<Availability>('GET', `/api/branches/${id}/availability`)))
  }

  private async counted(itemId: string): Promise<Counted> {
    const item = (await this.availabilities()).flatMap((s) => s.items).find((i) => i.itemId === itemId)
    if (!item) throw new Error(`there is no item ${itemId}`)
    return item
  }

  private async allow(item: Counted, left: number | null): Promise<void> {
    const dailyQuota = left === null ? null : left + item.held + item.used
    if (dailyQuota !== item.dailyQuota) await this.staff('PUT', `/api/menu-items/${item.itemId}/quota`, { dailyQuota })
  }

  /** The codes in the e-mails to an address, the newest last. Without a mail server, e-mails are files. */
  codes(email: string): string[] {
    const folder = join(this.folder, 'mail')
    if (!existsSync(folder)) return []
    return readdirSync(folder).filter((name) => name.endsWith('.eml')).sort()
      .map((name) => readFileSync(join(folder, name), 'utf8'))
      .filter((letter) => letter.includes(`<${email}>`))
      .flatMap((letter) => /^\D*?\b(\d{6})\b/m.exec(letter.slice(letter.indexOf('text/plain')))?.[1] ?? [])
  }

  /** Adds a dead letter with an event of this type, as if its publication had failed too often. */
  deadLetter(id: string, type: string): void {
    // Python includes SQLite; the oldest supported Node.js does not.
    const script = `
import sqlite3, sys, time
_, file, id, type = sys.argv
now = int(time.time() * 1000)
db = sqlite3.connect(file, timeout=10)
db.execute('''INSERT INTO dead_event (id, aggregate, aggregate_id, aggregate_seq, branch_id, event_type, payload, created_at, reason, died_at)
              VALUES (?, 'test', ?, 1, 1, ?, '{"token":"x","n":7}', ?, 'nobody was there', ?)''', (id, id, type, now, now))
db.commit()`
    execFileSync('python3', ['-c', script, join(this.folder, 'comanda.db'), id, type])
  }

  private env(): NodeJS.ProcessEnv {
    return {
      PATH: process.env.PATH,
      COMANDA_LISTEN: this.url.slice('http://'.length), COMANDA_PUBLIC_URL: this.url, COMANDA_DATA_DIR: this.folder,
      COMANDA_SERVICE_TOKEN: serviceToken, COMANDA_DEMO_PASSWORD: password,
      COMANDA_LIMITS: 'off', COMANDA_SIMULATORS: 'true', ...this.settings,
    }
  }
}

export function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as AddressInfo
      probe.close(() => {
        resolve(port)
      })
    })
  })
}
