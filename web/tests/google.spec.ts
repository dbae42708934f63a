import { createHash, createSign, generateKeyPairSync, randomUUID } from 'node:crypto'
import { createServer, type Server as HTTPServer } from 'node:http'
import type { AddressInfo } from 'node:net'

import { checkAccessibility } from './accessibility'
import { expect, test } from './fixtures'
import { join, logIn, password } from './member'
import { Server } from './server'
import { sizes } from './staff'

/** An OpenID Connect issuer in place of Google, whose page consents at once for the current person. */
class Issuer {
  url = ''
  person = { sub: 'lan', email: 'lan@gmail.com', email_verified: true, given_name: 'Lan' }
  refuses = false
  private readonly keys = generateKeyPairSync('rsa', { modulusLength: 2048 })
  private readonly grants = new Map<string, { nonce: string; challenge: string }>()
  private server: HTTPServer | undefined

  async start(): Promise<this> {
    this.server = createServer((request, response) => {
      const url = new URL(request.url ?? '/', this.url)
      const send = (body: unknown) => response.setHeader('Content-Type', 'application/json').end(JSON.stringify(body))
      if (url.pathname === '/.well-known/openid-configuration') {
        send({
          issuer: this.url, authorization_endpoint: `${this.url}/authorize`, token_endpoint: `${this.url}/token`, jwks_uri: `${this.url}/keys`,
          id_token_signing_alg_values_supported: ['RS256'],
        })
      } else if (url.pathname === '/keys') {
        send({ keys: [{ ...this.keys.publicKey.export({ format: 'jwk' }), kid: '1', alg: 'RS256', use: 'sig' }] })
      } else if (url.pathname === '/authorize') {
        const q = url.searchParams
        const back = new URL(q.get('redirect_uri') ?? '')
        const code = randomUUID()
        this.grants.set(code, { nonce: q.get('nonce') ?? '', challenge: q.get('code_challenge') ?? '' })
        back.search = new URLSearchParams(this.refuses ? { error: 'access_denied', state: q.get('state') ?? '' } : { code, state: q.get('state') ?? '' }).toString()
        response.writeHead(302, { Location: back.href }).end()
      } else {
        let body = ''
        request.on('data', (d: Buffer) => (body += d.toString()))
        request.on('end', () => {
          const form = new URLSearchParams(body)
          const grant = this.grants.get(form.get('code') ?? '')
          const challenge = createHash('sha256').update(form.get('code_verifier') ?? '').digest('base64url')
          if (!grant || grant.challenge !== challenge) {
            response.statusCode = 400
            send({ error: 'invalid_grant' })
            return
          }
          const now = Math.floor(Date.now() / 1000)
          const encode = (part: unknown) => Buffer.from(JSON.stringify(part)).toString('base64url')
          const token = `${encode({ alg: 'RS256', kid: '1' })}.${encode({ iss: this.url, aud: 'client', iat: now, exp: now + 600, nonce: grant.nonce, ...this.person })}`
          const signature = createSign('RSA-SHA256').update(token).sign(this.keys.privateKey, 'base64url')
          send({ access_token: 'x', token_type: 'Bearer', id_token: `${token}.${signature}` })
        })
      }
    })
    await new Promise<void>((resolve) => this.server?.listen(0, '127.0.0.1', resolve))
    this.url = `http://127.0.0.1:${String((this.server.address() as AddressInfo).port)}`
    return this
  }

  close(): void {
    this.server?.close()
  }
}

test('a guest becomes a member with Google, and a member connects it', async ({ page }) => {
  const issuer = await new Issuer().start()
  const server = new Server()
  try {
    await server.start({ COMANDA_GOOGLE_CLIENT_ID: 'client', COMANDA_GOOGLE_CLIENT_SECRET: 'secret', COMANDA_GOOGLE_ISSUER: issuer.url })
    await page.setViewportSize(sizes.phone)
    issuer.refuses = true
    await page.goto(`${server.url}/shop/login?to=/shop/account`)
    await expect(page.getByRole('button', { name: 'Continue with Google' })).toBeVisible()
    await checkAccessibility(page, 'the login with Google')
    await page.getByRole('button', { name: 'Continue with Google' }).click()
    await expect(page.getByRole('alert')).toHaveText('You haven’t logged in with Google.')
    issuer.refuses = false
    await page.getByRole('main').getByRole('link', { name: 'Log in' }).click()
    await page.goto(`${server.url}/shop/login?to=/shop/account`)
    await page.getByRole('button', { name: 'Continue with Google' }).click()
    await expect(page.getByText('Your account is ready.')).toBeVisible()
    await checkAccessibility(page, 'the question to a new member')
    await expect(page.getByLabel(/news and offers/)).not.toBeChecked()
    await page.getByLabel(/news and offers/).check()
    await page.getByRole('button', { name: 'Continue', exact: true }).click()
    await expect(page.getByText('Logged in as lan@gmail.com')).toBeVisible()
    await expect(page.getByLabel(/news and offers/)).toBeChecked() // the choice of the account
    await page.goto(`${server.url}/shop/google`) // as after a reload, which has no code
    await expect(page.getByText('Logged in as lan@gmail.com')).toBeVisible()
    expect(page.url()).toBe(`${server.url}/shop/account`)
    await expect(page.getByText('Your Google account is connected.')).toBeVisible()
    await page.reload() // the session is that of any login
    await expect(page.getByText('Logged in as lan@gmail.com')).toBeVisible()
    await page.getByRole('button', { name: 'Log out' }).first().click()
    await page.goto(`${server.url}/shop/login?to=/shop/account`)
    await page.getByRole('button', { name: 'Continue with Google' }).click() // the second time, without a question
    await expect(page.getByText('Logged in as lan@gmail.com')).toBeVisible()
    await page.getByRole('button', { name: 'Log out' }).first().click()

    issuer.person = { sub: 'minh', email: 'minh.google@guests.example', email_verified: true, given_name: 'Minh' }
    await join(server, 'minh.google@guests.example')
    await page.goto(`${server.url}/shop/login`)
    await page.getByRole('button', { name: 'Continue with Google' }).click()
    await expect(page.getByRole('alert')).toContainText('There’s already an account with this e-mail.')
    await logIn(page, server, 'minh.google@guests.example', '/shop/account')
    await page.getByRole('button', { name: 'Connect Google' }).click()
    const form = page.locator('form').filter({ hasText: 'Connect your Google account' })
    await form.getByLabel('Current password', { exact: true }).fill(password)
    await checkAccessibility(page, 'connecting Google')
    await form.getByRole('button', { name: 'Connect Google' }).click()
    await expect(page.getByText('Your Google account is connected.')).toBeVisible()
    expect(page.url()).toBe(`${server.url}/shop/account`)
  } finally {
    await server.remove()
    issuer.close()
  }
})
