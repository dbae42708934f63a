import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const binary = fileURLToPath(new URL('../../bin/comanda', import.meta.url))
const serviceToken = 'service-token-of-the-browser-tests'

/** Of every account of the demo. */
export const password = 'a-password-of-the-browser-tests'

export interface Table {
  branchId: string
  tableId: string
  label: string
  qrToken: string
}

/** A demo restaurant of its own, on a free port and in a folder that goes with it. */
export class Server {
  url = ''
  private readonly folder = mkdtempSync(join(tmpdir(), 'comanda-web-'))
  private child: ChildProcess | undefined

  constructor(private readonly settings: Record<string, string> = {}) {}

  /** Where another process of the same restaurant has its files. */
  get data(): string {
    return this.folder
  }

  async start(): Promise<this> {
    this.url ||= `http://127.0.0.1:${String(await freePort())}`
    const child = spawn(binary, ['serve', '--demo'], { env: this.env(), stdio: ['ignore', 'pipe', 'pipe'] })
    this.child = child
    let log = ''
    child.stderr.on('data', (d: Buffer) => (log = (log + d.toString()).slice(-4000)))
    await new Promise<void>((resolve, reject) => {
      child.stdout.on('data', (d: Buffer) => {
        if (d.toString().includes('Guest link')) resolve()
      })
      child.once('exit', (code) => {
        reject(new Error(`the server ended with ${String(code)}: ${log}`))
      })
    })
    return this
  }

  /** Ends the process; its data stays. */
  async stop(): Promise<void> {
    const child = this.child
    this.child = undefined
    if (!child || child.exitCode !== null) return
    const gone = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGTERM')
    await gone
  }

  async remove(): Promise<void> {
    await this.stop()
    rmSync(this.folder, { recursive: true, force: true })
  }

  /** Asks the server as a script of the staff. */
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

  /** The table with that name; a new one may be had by each test. */
  async table(label: string): Promise<{ id: string; link: string }> {
    const { items } = await this.staff<{ items: { id: string; label: string; link: string }[] }>('GET', '/api/tables')
    const found = items.find((t) => t.label === label)
    if (!found) throw new Error(`there is no table ${label}`)
    return found
  }

  /** Allows so many of an item to be sold today. */
  async quota(itemId: string, dailyQuota: number | null): Promise<void> {
    await this.staff('PUT', `/api/menu-items/${itemId}/quota`, { dailyQuota })
  }

  /** The codes that letters have brought to an address, the last one last. Without a mail server letters are files. */
  codes(email: string): string[] {
    const folder = join(this.folder, 'mail')
    if (!existsSync(folder)) return []
    return readdirSync(folder).filter((name) => name.endsWith('.eml')).sort()
      .map((name) => readFileSync(join(folder, name), 'utf8'))
      .filter((letter) => letter.includes(`<${email}>`))
      .flatMap((letter) => /^\D*?\b(\d{6})\b/m.exec(letter.slice(letter.indexOf('text/plain')))?.[1] ?? [])
  }

  /** Puts an event of that type among the dead letters, as if its publication had failed too often. */
  deadLetter(id: string, type: string): void {
    // SQLite comes with Python, and not with the Node.js that this must run on.
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
