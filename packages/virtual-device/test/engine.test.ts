import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { passTime } from "../../../host-test/support/testing.js";
import { closeEngines, ECHO, ENGINES, ends, headers } from "./test-engines.js";

for (const [name, start, skip] of ENGINES) {
	describe(`${name}: messages`, { skip }, () => {
		after(closeEngines);

		test("names itself", async () => {
			assert.match((await start()).name, new RegExp(`^${name} \\d+\\.\\d+`));
		});

		test("has random numbers of its own, and with a seed the same at each start", async () => {
			const draw = async (seed?: number): Promise<unknown> => {
				const engine = await start(seed === undefined ? {} : { seed });
				return headers(await engine.run("post(JSON.stringify([Math.random(), Math.random(), Math.random()]))"))[0];
			};
			assert.notDeepEqual(await draw(), await draw());
			assert.deepEqual(await draw(7), await draw(7));
			assert.notDeepEqual(await draw(7), await draw(8));
			for (const number of (await draw()) as number[]) {
				assert.ok(number >= 0 && number < 1, String(number));
			}
		});

		const everyByte = Uint8Array.from({ length: 256 }, (_, i) => i);
		const large = Uint8Array.from({ length: 100_000 }, (_, i) => (i * 7) & 255);
		for (const bytes of [new Uint8Array(0), Uint8Array.of(44), everyByte, large, large.subarray(3, 500)]) {
			test(`carries ${bytes.length} bytes there and back`, async () => {
				const engine = await start();
				await engine.run(ECHO);
				assert.deepEqual(await engine.deliver([{ header: ["x"], bytes }]), [
					{ header: ["x"], bytes: new Uint8Array(bytes) },
				]);
			});
		}

		test("carries any text in headers", async () => {
			const engine = await start();
			await engine.run(ECHO);
			const messages = [{ header: ['é \u{1f600} \0 \u2028 \\ " 12:3,', { a: [null, true, -0.5] }] }, { header: [] }];
			assert.deepEqual(await engine.deliver(messages), messages);
		});

		test("hands over an ArrayBuffer of the script's own realm, or undefined", async () => {
			const engine = await start();
			await engine.run(`globalThis.onHostMessage = (header, bytes) =>
				post(JSON.stringify([bytes === undefined, bytes instanceof ArrayBuffer]))`);
			const posts = await engine.deliver([{ header: [] }, { header: [], bytes: Uint8Array.of(1) }]);
			assert.deepEqual(headers(posts), [
				[true, false],
				[false, true],
			]);
		});

		test("returns what promise jobs post in the same reply", async () => {
			const engine = await start();
			await engine.run(`globalThis.onHostMessage = async (header) => {
				post(header); await null; await null; post('["later"]') }`);
			assert.deepEqual(headers(await engine.deliver([{ header: [1] }])), [[1], ["later"]]);
		});

		test("runs the promise jobs of a message before it delivers the next", async () => {
			const engine = await start();
			await engine.run("globalThis.onHostMessage = async (header) => { post('[0]'); await null; post(header) }");
			assert.deepEqual(headers(await engine.deliver([{ header: [1] }, { header: [2] }])), [[0], [1], [0], [2]]);
		});

		test("answers each of several commands that were made at once", async () => {
			const engine = await start();
			const replies = await Promise.all([engine.run("post('[1]')"), engine.run("post('[2]')"), engine.deliver([])]);
			assert.deepEqual(replies.map(headers), [[[1]], [[2]], []]);
		});

		test("passes traces on, without adding to them", async () => {
			let traced = "";
			const engine = await start({ onTrace: (text) => (traced += text) });
			await engine.run('trace("a", 1, "é\\n"); trace("b")');
			engine.close();
			await engine.exited;
			assert.equal(traced, "a1é\nb");
		});

		test("rejects posts of anything but a string and an ArrayBuffer", async () => {
			const engine = await start();
			const posts = await engine.run(`for (const values of [[], [1], ["[]", 1], ["[]", new Uint8Array(1)]]) {
				try { post(...values) } catch (error) { post(JSON.stringify([error instanceof TypeError])) } }`);
			assert.deepEqual(headers(posts), [[true], [true], [true], [true]]);
		});

		test("reports a posted header that is no JSON, and goes on", async () => {
			const engine = await start();
			for (const header of ["no json", ""]) {
				await assert.rejects(engine.run(`post(${JSON.stringify(header)})`), SyntaxError);
			}
			assert.deepEqual(headers(await engine.run("post('[1]')")), [[1]]);
		});

		test("continues after an exception that the script's abort ignores, with the next message of the same command", async () => {
			const engine = await start();
			await engine.run(`globalThis.abort = (reason, error) => { post(JSON.stringify([reason, error.message])); return false; };
				globalThis.onHostMessage = (header) => {
					if (header === "[1]") { throw new Error("on purpose"); }
					post(header); }`);
			const posts = await engine.deliver([{ header: [1] }, { header: [2] }]);
			assert.deepEqual(headers(posts), [["unhandled exception", "on purpose"], [2]]);
		});

		test("continues after a rejection that the script's abort ignores", async () => {
			const engine = await start();
			await engine.run(`globalThis.reasons = [];
				globalThis.abort = (reason, error) => { reasons.push(reason, error.message); return false; };
				globalThis.onHostMessage = async () => { throw new Error("on purpose"); }`);
			await engine.deliver([{ header: [1] }]);
			const posts = await engine.run("post(JSON.stringify(reasons))");
			assert.deepEqual(headers(posts), [["unhandled rejection", "on purpose"]]);
		});

		test("offers ECMAScript's globals and no others of Node", async () => {
			const engine = await start();
			const names = ["console", "setTimeout", "process", "TextDecoder", "structuredClone", "Intl", "require"];
			const posts = await engine.run(
				`post(JSON.stringify(${JSON.stringify(names)}.filter((name) => name in globalThis)))`,
			);
			assert.deepEqual(headers(posts), [[]]);
		});
	});

	describe(`${name}: strings and UTF-8`, { skip }, () => {
		after(closeEngines);

		const evaluate = async (expression: string): Promise<unknown> => {
			const engine = await start();
			const [reply] = await engine.run(`
				const decode = (...bytes) => String.fromArrayBuffer(Uint8Array.from(bytes).buffer);
				const encode = (text) => Array.from(new Uint8Array(ArrayBuffer.fromString(text)));
				let result; try { result = ${expression} } catch (error) { result = error.name }
				post(JSON.stringify([result]))`);
			return reply?.header[0];
		};

		const CASES: [title: string, expression: string, result: unknown][] = [
			["encodes all lengths of sequences", 'encode("aé€\\u{1f600}").join()', "97,195,169,226,130,172,240,159,152,128"],
			["encodes a zero character as two bytes", 'encode("\\0").join()', "192,128"],
			["decodes all lengths of sequences", "decode(97,195,169,226,130,172,240,159,152,128)", "aé€\u{1f600}"],
			["decodes a part", "String.fromArrayBuffer(Uint8Array.of(97,98,99).buffer, 1, 1)", "b"],
			["decodes up to a zero byte", "decode(97,0,98)", "a"],
			["refuses a lone continuation", "decode(128)", "TypeError"],
			["refuses a cut sequence", "decode(226,130)", "TypeError"],
			["refuses a broken sequence", "decode(195,65)", "TypeError"],
			["refuses a view", "String.fromArrayBuffer(new Uint8Array(1))", "TypeError"],
			["refuses an offset outside", "String.fromArrayBuffer(new ArrayBuffer(3), 4)", "RangeError"],
			["refuses a length outside", "String.fromArrayBuffer(new ArrayBuffer(3), 1, 3)", "RangeError"],
			["refuses no argument", "ArrayBuffer.fromString()", "TypeError"],
		];
		for (const [title, expression, result] of CASES) {
			test(title, async () => assert.equal(await evaluate(expression), result));
		}
	});

	describe(`${name}: how it ends`, { skip }, () => {
		after(closeEngines);

		test("an exception of a script ends it, with name, message and stack", async () => {
			const engine = await start();
			const script = "function inner() { throw new RangeError('too far') } inner()";
			await ends(engine.run(script), engine, "exception", /^RangeError: too far\n\s*at inner/);
		});

		test("an exception of onHostMessage ends it", async () => {
			const engine = await start();
			await engine.run("globalThis.onHostMessage = () => { throw 'text' }");
			await ends(engine.deliver([{ header: [] }]), engine, "exception", /^text$/);
		});

		test("a message nobody takes ends it", async () => {
			const engine = await start();
			await ends(engine.deliver([{ header: [] }]), engine, "exception", /onHostMessage is no function/);
		});

		test("a syntax error ends it", async () => {
			const engine = await start();
			await ends(engine.run("let = = 1"), engine, "exception", /SyntaxError/);
		});

		test("a rejection nobody handles ends it", async () => {
			const engine = await start();
			const script = "(async () => { await null; throw new Error('lost') })()";
			await ends(engine.run(script), engine, "unhandled-rejection", /^Error: lost/);
		});

		test("a rejection that is handled within the command does not end it", async () => {
			const engine = await start();
			await engine.run("const p = Promise.reject(1); Promise.resolve().then(() => p.catch(() => post('[1]')))");
			assert.deepEqual(headers(await engine.run("post('[2]')")), [[2]]);
		});

		test("recursion without end ends it", async () => {
			const engine = await start();
			await ends(engine.run("function f() { f() } f()"), engine, "stack-overflow", /stack/);
		});

		for (const script of ["for (;;);", "(async () => { for (;;) await null })()"]) {
			test(`a loop without end ends it: ${script}`, async (t) => {
				const engine = await start({ timeoutMs: 300_000 });
				await passTime(
					t,
					async () =>
						await ends(engine.run(script), engine, "unresponsive", /^no answer in 300 s: is a loop endless\?$/),
				);
			});
		}

		test("closing it twice is harmless", async () => {
			const engine = await start();
			engine.close();
			engine.close();
			assert.equal((await engine.exited).code, "closed");
		});

		test("closing it rejects commands that run or wait", async () => {
			const engine = await start();
			const commands = [engine.run("for (;;);"), engine.run("1"), engine.heap()];
			engine.close();
			for (const command of commands) {
				await assert.rejects(command, { code: "closed" });
			}
		});

		test("commands after its end reject with the code of its exit, which closing it does not change", async () => {
			const engine = await start();
			await assert.rejects(engine.run("throw 1"));
			engine.close();
			await assert.rejects(engine.run("1"), { code: "exception" });
			await assert.rejects(engine.deliver([]), { code: "exception" });
			await assert.rejects(engine.heap(), { code: "exception" });
		});
	});
}
