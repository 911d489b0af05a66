// What the browser visits: the built proxy with a waiting room for each case, and a site behind it.
import { spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

import { patience, within } from './devtools.mjs'

// One session at a time, so that who waits and who is called is up to the case.
const waitingRoom = {
  active_sessions: 1,
  claim_ms: 120_000,
  poll: { min_ms: 1000, max_ms: 2000 },
  secure_cookie: false // chromium takes a __Host- cookie over HTTPS alone
}

// A site that says "inside" and remembers who asked.
export class Site {
  #asked = new EventEmitter()
  visits = [] // { url, agent, pass }

  static async start () {
    const site = new Site()
    site.server = createServer((asked, answer) => {
      const visit = {
        url: asked.url, agent: asked.headers['user-agent'], pass: asked.headers['spillway-pass']
      }
      site.visits.push(visit)
      answer.setHeader('Content-Type', 'text/html; charset=utf-8')
      answer.end('<!doctype html><html lang=en><title>inside</title><link rel=icon href=data:,><h1>inside</h1>')
      site.#asked.emit('visit', visit)
    }).listen(0, '127.0.0.1')
    await once(site.server, 'listening')
    site.port = site.server.address().port
    return site
  }

  browserVisits (path) {
    return this.visits.filter(visit => visit.url === path && visit.agent?.includes('Chrome'))
  }

  // Whether the browser asks for `path` within `time` from now.
  isVisited (path, time) {
    const seen = this.browserVisits(path).length
    const visited = new Promise(resolve => this.#asked.on('visit', () => {
      if (this.browserVisits(path).length > seen) resolve(true)
    }))
    return within(time, 'a visit', visited).catch(() => false)
  }

  stop () { this.server.closeAllConnections(); this.server.close() }
}

export class Proxy {
  // `rooms`: names, each with what its waiting room has more than the others. `pages`: files beside
  // the configuration.
  static async start (spillway, sitePort, rooms, pages = {}) {
    const proxy = new Proxy()
    proxy.folder = mkdtempSync(join(tmpdir(), 'spillway-waiting-'))
    const file = join(proxy.folder, 'spillway.json')
    for (const [name, text] of Object.entries(pages)) writeFileSync(join(proxy.folder, name), text, { mode: 0o600 })
    writeFileSync(file, JSON.stringify({
      listen: { port: 0 },
      admin: { port: 0 },
      workers: 1,
      upstreams: [{ name: 'site', servers: [`127.0.0.1:${sitePort}`] }],
      routes: Object.entries(rooms).map(([name, more]) => ({
        name, match: { path: `/${name}/**` }, waiting_room: { ...waitingRoom, ...more }
      })).concat({ name: 'hooks', match: {}, internal: true, defer: {} })
    }))
    proxy.process = spawn(spillway, ['run', '--config', file], { stdio: ['ignore', 'pipe', 'pipe'] })
    const ports = {}
    const said = [proxy.process.stdout, proxy.process.stderr].map(stream => createInterface(stream))
    const listening = new Promise((resolve, reject) => {
      proxy.process.once('error', reject)
      proxy.process.once('exit', () => reject(new Error('the proxy ended')))
      for (const lines of said) {
        lines.on('line', line => {
          if (!line.includes('"listening"')) return
          const { listener, port } = JSON.parse(line)
          ports[listener] = port
          if (ports.proxy && ports.admin) resolve()
        })
      }
    })
    await within(patience, 'the proxy listens', listening)
    proxy.base = `http://127.0.0.1:${ports.proxy}`
    proxy.adminBase = `http://127.0.0.1:${ports.admin}`
    return proxy
  }

  page (room) { return `${this.base}/${room}` }

  async counts (room) {
    const state = await (await fetch(`${this.adminBase}/state`)).json()
    return state.waiting_rooms.find(each => each.name === room)
  }

  // The operator ends the last ticket in line.
  async removeLast (room) {
    const tickets = `${this.adminBase}/rooms/${room}/tickets`
    const { id } = (await (await fetch(tickets)).json()).tickets.at(-1)
    const { status } = await fetch(`${tickets}/${id}`, { method: 'DELETE' })
    if (status !== 200) throw new Error(`removing was answered ${status}`)
    return id
  }

  // Somebody is inside, and `ahead` others have places.
  async fill (room, ahead) {
    const holder = new Companion(this, room)
    if (await holder.visit() !== 200) throw new Error('the first visitor is not let in')
    await holder.visit() // from then on it has a session, which it can give up
    const line = []
    for (let n = 0; n < ahead; ++n) {
      const companion = new Companion(this, room)
      await companion.visit()
      await companion.poll()
      line.push(companion)
    }
    return { holder, line }
  }

  async stop () {
    const ended = once(this.process, 'exit')
    this.process.kill('SIGKILL')
    await ended
    rmSync(this.folder, { recursive: true })
  }
}

// A visitor without a browser, but with its manners.
class Companion {
  #cookie = ''

  constructor (proxy, room) {
    this.proxy = proxy
    this.room = room
  }

  async #ask (method, path, headers) {
    const asked = request(this.proxy.base + path, { method, headers: { ...headers, Cookie: this.#cookie } })
    asked.end()
    const [answer] = await within(patience, `${method} ${path}`, once(asked, 'response'))
    for (const line of answer.headers['set-cookie'] ?? []) this.#cookie = line.split(';')[0]
    let text = ''
    for await (const piece of answer) text += piece
    return { status: answer.statusCode, text }
  }

  async visit () {
    const fields = { Accept: 'text/html', 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Dest': 'document' }
    return (await this.#ask('GET', `/${this.room}`, fields)).status
  }

  async poll () {
    return JSON.parse((await this.#ask('GET', `/_spillway/rooms/${this.room}/ticket`, {})).text)
  }

  async leave () {
    const { status } = await this.#ask('POST', `/_spillway/rooms/${this.room}/leave`, { 'Spillway-Leave': '1' })
    if (status !== 204) throw new Error(`leaving was answered ${status}`)
  }
}
