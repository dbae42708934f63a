import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { freePort } from './server'

const postgres = process.env.COMANDA_TEST_POSTGRES_URL ?? 'postgres://postgres@127.0.0.1:5432/postgres'

/** A database and a Redis for one test, with the environment variables for a server that uses them. */
export interface Stores {
  settings: Record<string, string>
  remove: () => Promise<void>
}

/** Creates a database beside the configured one, and starts a Redis without persistence. */
export async function stores(): Promise<Stores> {
  const name = `comanda_web_${String(process.pid)}_${String(Date.now())}`
  const ask = (sql: string) => execFileSync('psql', [postgres, '-qc', sql])
  ask(`CREATE DATABASE ${name}`)
  const address = new URL(postgres)
  address.pathname = name
  const folder = mkdtempSync(join(tmpdir(), 'comanda-web-redis-'))
  const port = String(await freePort())
  const redis = spawn('redis-server', ['--port', port, '--bind', '127.0.0.1', '--save', '', '--dir', folder], { stdio: ['ignore', 'pipe', 'ignore'] })
  await new Promise<void>((resolve, reject) => {
    redis.once('error', reject)
    redis.stdout.on('data', (d: Buffer) => {
      if (d.toString().includes('Ready to accept connections')) resolve()
    })
  })
  return {
    settings: { COMANDA_DATABASE_URL: address.href, COMANDA_REDIS_URL: `redis://127.0.0.1:${port}` },
    remove: async () => {
      const gone = new Promise((resolve) => redis.once('exit', resolve))
      redis.kill('SIGTERM')
      await gone
      rmSync(folder, { recursive: true, force: true })
      ask(`DROP DATABASE ${name} WITH (FORCE)`)
    },
  }
}
