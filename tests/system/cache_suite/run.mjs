// Plays the public suite of HTTP cache tests (http-cache-tests) through the built proxy and compares
// the outcome with a list: no case in it may fail, and none that passes may be missing.
//
//   node run.mjs SPILLWAY SUITE [--update]
//
// SUITE is the package's directory (must_pass.txt), or a checkout of github.com/http-tests/cache-tests
// (must_pass_checkout.txt). Exits with 77 (skipped) where it is missing; --update writes the list.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

const [spillway, suite] = process.argv.slice(2, 4).map(path => resolve(path))
const flag = process.argv[4]
const concurrency = 25
const patience = 10_000
const agent = new Agent({ keepAlive: true })

if (!existsSync(join(suite, 'package.json'))) {
  console.log(`the suite is not installed at ${suite}: run install.sh`)
  process.exit(77)
}
const engine = existsSync(join(suite, 'test-engine')) ? join(suite, 'test-engine') : suite
const lists = { true: 'must_pass.txt', false: 'must_pass_checkout.txt' }
const list = join(new URL('.', import.meta.url).pathname, lists[engine === suite])
const load = (...path) => import(pathToFileURL(resolve(...path)).href)

async function freePort () {
  const listener = createServer().listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const { port } = listener.address()
  listener.close()
  await once(listener, 'close')
  return port
}

function configuration (originPort, port, adminPort) {
  const cache = {
    max_bytes: 67108864,
    serve: 'fresh',
    ttl_ms: 0,
    error_ttl_ms: 60000,
    heuristic_ratio: 0.1,
    targeted: ['CDN-Cache-Control']
  }
  return {
    listen: { address: '127.0.0.1', port },
    admin: { address: '127.0.0.1', port: adminPort },
    workers: 1,
    upstreams: [{ name: 'suite', servers: [`127.0.0.1:${originPort}`] }],
    routes: [{ name: 'all', match: { path: '/test/**' }, cache }]
  }
}

async function answers (url) {
  const end = Date.now() + patience
  for (;;) {
    try {
      return await fetch(url)
    } catch (error) {
      if (Date.now() > end) throw error
      await new Promise(resolve => setTimeout(resolve, 20))
    }
  }
}

// The suite's own reading: a case counts only if those that it depends on pass.
function passes (byId, results, id) {
  const test = byId.get(id)
  return results[id] === true && (test.depends_on ?? []).every(other => passes(byId, results, other))
}

// fetch() as the suite needs it: Node's adds `Cache-Control: no-cache` to conditional requests.
async function plainFetch (url, { method = 'GET', headers = [], body } = {}) {
  const lines = {}
  for (const [name, value] of headers) lines[name] = [...(lines[name] ?? []), String(value)]
  if (body !== undefined) lines['Content-Length'] = [String(Buffer.byteLength(body))]
  const asked = request(url, { method, agent, headers: lines })
  asked.end(body)
  const [answer] = await once(asked, 'response')
  const pieces = []
  for await (const piece of answer) pieces.push(piece)
  const fields = new Headers()
  for (let i = 0; i < answer.rawHeaders.length; i += 2)
    fields.append(answer.rawHeaders[i], answer.rawHeaders[i + 1])
  const hasBody = ![204, 205, 304].includes(answer.statusCode)
  return new Response(hasBody ? Buffer.concat(pieces) : null, {
    status: answer.statusCode,
    statusText: answer.statusMessage,
    headers: fields
  })
}

async function play (base) {
  globalThis.fetch = plainFetch
  const { default: suites } = await load(suite, 'tests', 'index.mjs')
  const { runTests, getResults } = await load(engine, 'client', 'runner.mjs')
  const tests = suites.flatMap(each => each.tests).filter(each => !each.browser_only)
  await (engine === suite
    ? runTests(suites, plainFetch, false, base, concurrency)
    : runTests(suites, false, base, concurrency))
  agent.destroy()
  const results = getResults()
  const byId = new Map(tests.map(each => [each.id, each]))
  const kinds = { required: [0, 0], optimal: [0, 0] }
  const passed = []
  const failed = []
  for (const { id, kind = 'required' } of tests) {
    if (!(kind in kinds)) continue // the others only ask what a cache does
    ++kinds[kind][1]
    if (!passes(byId, results, id)) {
      failed.push(`${kind} ${id}: ${JSON.stringify(results[id])}`)
      continue
    }
    ++kinds[kind][0]
    passed.push(id)
  }
  return { kinds, passed: passed.sort(), failed }
}

const folder = mkdtempSync(join(tmpdir(), 'cache-suite-'))
const [originPort, port, adminPort] = [await freePort(), await freePort(), await freePort()]
const children = []
let ok = false
try {
  children.push(spawn(process.execPath, [join(engine, 'server', 'server.mjs')], {
    cwd: suite,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      ...process.env,
      npm_config_protocol: 'http',
      npm_config_port: String(originPort),
      npm_config_pidfile: join(folder, 'server.pid')
    }
  }))
  const file = join(folder, 'spillway.json')
  writeFileSync(file, JSON.stringify(configuration(originPort, port, adminPort)))
  children.push(spawn(spillway, ['run', '--config', file], { stdio: ['ignore', 'ignore', 'inherit'] }))
  await answers(`http://127.0.0.1:${originPort}/`)
  await answers(`http://127.0.0.1:${port}/`)
  const { kinds, passed, failed } = await play(`http://127.0.0.1:${port}`)
  for (const [kind, [good, all]] of Object.entries(kinds)) console.log(`${kind}: ${good} of ${all}`)
  for (const line of failed) console.log(`not passed: ${line}`)
  if (flag === '--update') {
    writeFileSync(list, passed.join('\n') + '\n')
    ok = true
  } else {
    const expected = readFileSync(list, 'utf8').split('\n').filter(Boolean)
    const lost = expected.filter(id => !passed.includes(id))
    const gained = passed.filter(id => !expected.includes(id))
    for (const id of lost) console.log(`FAILED: ${id}`)
    for (const id of gained) console.log(`passes and is not in must_pass.txt: ${id}`)
    ok = lost.length === 0 && gained.length === 0 && expected.length > 0
  }
} finally {
  for (const child of children) child.kill()
  await Promise.all(children.map(child => child.exitCode ?? once(child, 'exit')))
  rmSync(folder, { recursive: true })
}
process.exit(ok ? 0 : 1)
