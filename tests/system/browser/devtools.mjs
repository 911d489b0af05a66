// A headless Chromium that is driven over a pipe: DevTools protocol, JSON texts that end in NUL, on
// the descriptors 3 and 4. So neither a port nor a WebSocket is needed, which Node 18 has not.
import { spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export const patience = 30_000

// `promise`, or an error that says what was awaited after `time`.
export function within (time, what, promise) {
  let timer
  const late = new Promise((resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`not within ${time} ms: ${what}`)), time)
  })
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}

export class Browser {
  #answers = new Map()
  #events = new EventEmitter().setMaxListeners(0)
  #count = 0
  #rest = Buffer.alloc(0)
  #said = ''

  static async start () {
    const browser = new Browser()
    browser.profile = mkdtempSync(join(tmpdir(), 'spillway-browser-'))
    // CI runs as root, and as root Chromium does not start with its sandbox. It only gets pages of
    // this machine to see. In a container /dev/shm may be too small for it.
    browser.process = spawn('chromium', [
      '--headless=new', '--no-sandbox', '--disable-dev-shm-usage', '--remote-debugging-pipe',
      '--no-first-run', '--disable-background-networking', '--disable-component-update',
      '--window-size=1000,900', `--user-data-dir=${browser.profile}`, 'about:blank'
    ], { stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'] })
    const failed = new Promise((resolve, reject) => {
      browser.process.once('error', error => reject(new Error(error.code === 'ENOENT'
        ? 'chromium is not installed: docker/install-deps.sh installs it' : error.message)))
      browser.process.once('exit', () => reject(new Error(`chromium ended: ${browser.#said}`)))
    })
    failed.catch(() => {})
    browser.process.stderr.on('data', text => { browser.#said = (browser.#said + text).slice(-2000) })
    const [, , , to, from] = browser.process.stdio
    to.on('error', () => {})
    from.on('data', bytes => browser.#read(bytes))
    try {
      await Promise.race([failed, browser.send('Browser.getVersion')])
    } catch (error) {
      await browser.stop()
      throw error
    }
    return browser
  }

  #read (bytes) {
    this.#rest = Buffer.concat([this.#rest, bytes])
    for (let end; (end = this.#rest.indexOf(0)) >= 0;) {
      const message = JSON.parse(this.#rest.subarray(0, end))
      this.#rest = this.#rest.subarray(end + 1)
      const answer = this.#answers.get(message.id)
      this.#answers.delete(message.id)
      if (!answer) this.#events.emit(message.sessionId ?? '', message)
      else if (message.error) answer.reject(new Error(message.error.message))
      else answer.resolve(message.result)
    }
  }

  send (method, params = {}, sessionId = undefined) {
    const id = ++this.#count
    const answered = new Promise((resolve, reject) => this.#answers.set(id, { resolve, reject }))
    this.process.stdio[3].write(JSON.stringify({ id, method, params, sessionId }) + '\0')
    return within(patience, method, answered)
  }

  on (sessionId, listener) { this.#events.on(sessionId, listener) }

  // Somebody with a cookie jar and a window of their own.
  async person () {
    const { browserContextId } = await this.send('Target.createBrowserContext')
    return new Person(this, browserContextId)
  }

  async stop () {
    const isRunning = this.process.exitCode === null && this.process.signalCode === null
    if (this.process.pid !== undefined && isRunning) {
      const ended = once(this.process, 'exit')
      await this.send('Browser.close').catch(() => this.process.kill('SIGKILL'))
      await within(patience, 'the end of chromium', ended).catch(() => this.process.kill('SIGKILL'))
    }
    rmSync(this.profile, { recursive: true, force: true, maxRetries: 5 })
  }
}

class Person {
  constructor (browser, browserContextId) {
    this.browser = browser
    this.browserContextId = browserContextId
  }

  // What they answer when a page of `origin` asks: `setting` is granted or denied.
  decide (origin, name, setting) {
    const { browserContextId } = this
    return this.browser.send('Browser.setPermission', { permission: { name }, setting, origin, browserContextId })
  }

  // A tab in their window, in front of the others. `language` as in Accept-Language; `prelude`: a
  // script that runs before those of each page.
  async tab ({ language = 'en', prelude = '', scripts = true } = {}) {
    const { browser, browserContextId } = this
    const { targetId } = await browser.send('Target.createTarget', { url: 'about:blank', browserContextId })
    const { sessionId } = await browser.send('Target.attachToTarget', { targetId, flatten: true })
    const tab = new Tab(browser, sessionId, targetId)
    for (const domain of ['Page', 'Runtime', 'Network', 'Log']) await tab.send(`${domain}.enable`)
    await tab.send('Network.setExtraHTTPHeaders', { headers: { 'Accept-Language': language } })
    if (prelude) await tab.send('Page.addScriptToEvaluateOnNewDocument', { source: prelude })
    if (!scripts) await tab.send('Emulation.setScriptExecutionDisabled', { value: true })
    return tab
  }
}

class Tab {
  requests = [] // { url, type }
  responses = [] // { url, status, headers }
  complaints = [] // what the browser logs as an error, violations of the policy too
  #events = new EventEmitter().setMaxListeners(0)

  constructor (browser, sessionId, targetId) {
    this.browser = browser
    this.sessionId = sessionId
    this.targetId = targetId
    browser.on(sessionId, ({ method, params }) => {
      if (method === 'Network.requestWillBeSent' && params.request.url.startsWith('http'))
        this.requests.push({ url: params.request.url, type: params.type })
      if (method === 'Network.responseReceived') this.responses.push(params.response)
      if (method === 'Log.entryAdded' && params.entry.level === 'error')
        this.complaints.push(params.entry.text)
      if (method === 'Runtime.exceptionThrown')
        this.complaints.push(params.exceptionDetails.exception?.description)
      this.#events.emit(method, params)
    })
  }

  send (method, params) { return this.browser.send(method, params, this.sessionId) }

  // The next event of that name that `fits`; begin to wait before what causes it.
  next (event, fits = () => true) {
    return within(patience, event, new Promise(resolve => {
      const listener = params => {
        if (!fits(params)) return
        this.#events.off(event, listener)
        resolve(params)
      }
      this.#events.on(event, listener)
    }))
  }

  async #navigate (method, params) {
    const loaded = this.next('Page.loadEventFired')
    await this.send(method, params)
    await loaded
  }

  open (url) { return this.#navigate('Page.navigate', { url }) }
  reload () { return this.#navigate('Page.reload') }
  bringToFront () { return this.send('Page.bringToFront') }
  close () { return this.browser.send('Target.closeTarget', { targetId: this.targetId }) }

  async evaluate (expression) {
    const { result, exceptionDetails } = await this.send('Runtime.evaluate',
      { expression, awaitPromise: true, returnByValue: true, userGesture: true })
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text)
    return result.value
  }

  // The value of `expression` as soon as it is true: looked at again when the page changes anything,
  // or another page is loaded. Of a page that is half loaded it may ask for what is not there yet.
  until (expression) {
    const watch = `new Promise(resolve => {
      const valueNow = () => { try { return ${expression} } catch { return false } }
      const look = () => { const value = valueNow(); if (value) { watcher.disconnect(); resolve(value) } }
      const watcher = new MutationObserver(look)
      watcher.observe(document, {subtree: true, childList: true, attributes: true, characterData: true})
      document.addEventListener('visibilitychange', look)
      look()
    })`
    const look = async () => {
      for (;;) {
        const replaced = once(this.#events, 'Page.frameNavigated')
        try {
          return await this.evaluate(watch)
        } catch (error) {
          // Another page took its place.
          if (!/context|navigated|Promise was collected/i.test(error.message)) throw error
          await replaced
        }
      }
    }
    return within(patience, expression, look())
  }

  async screenshot () {
    const { data } = await this.send('Page.captureScreenshot', { format: 'png' })
    return Buffer.from(data, 'base64')
  }

  // What a screen reader gets to know: { role, name, live }.
  async accessible () {
    const { nodes } = await this.send('Accessibility.getFullAXTree')
    return nodes.filter(node => !node.ignored).map(node => ({
      role: node.role?.value,
      name: node.name?.value ?? '',
      live: node.properties?.find(property => property.name === 'live')?.value.value
    }))
  }
}
