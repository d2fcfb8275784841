import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { makePlainMembers } from "../../../toolchain/release/plain-members.js";

describe("private members of a release build", () => {
	it("become ordinary ones with short names", () => {
		const source =
			"class Counter { #count = 1; static #made = 0; get #next() { return this.#count + 1; } #add(other?: Counter) { this.#count = other?.#next ?? Counter.#made; } }";
		assert.equal(
			makePlainMembers(source),
			"class Counter { _a = 1; static _b = 0; get _c() { return this._a + 1; } _d(other?: Counter) { this._a = other?._c ?? Counter._b; } }",
		);
	});

	it("share one name for a getter and its setter", () => {
		const source = "class A { get #x() { return 1; } set #x(value) { this.#y = value; } #y; }";
		assert.equal(makePlainMembers(source), "class A { get _a() { return 1; } set _a(value) { this._b = value; } _b; }");
	});

	it("have other names in a derived class than in its base class", () => {
		assert.equal(
			makePlainMembers("class B extends A { #x; }\nclass C implements A { #x; }"),
			"class B extends A { _Ba; }\nclass C implements A { _a; }",
		);
	});

	it("have other names in a class than in the class around it", () => {
		const names = makePlainMembers("class A { #x; make() { return class { #y = 1; of(a: A) { return a.#x; } }; } }");
		assert.equal(names, "class A { _a; make() { return class { _a = 1; of(a: A) { return a._a; } }; } }");
	});

	it("are asked for by their name as a text", () => {
		assert.equal(
			makePlainMembers("class A { #x; static is(a: object) { return #x in a; } }"),
			'class A { _a; static is(a: object) { return "_a" in a; } }',
		);
	});

	it("have names of two letters after 26", () => {
		const members = Array.from({ length: 28 }, (_, at) => `#member${at};`).join(" ");
		assert.match(makePlainMembers(`class A { ${members} }`), /_z; _aa; _ab; \}$/);
	});

	it("leave a module without any as it is", () => {
		const source = "/** #1 */\nexport class A { x = '#x'; }\n";
		assert.equal(makePlainMembers(source), source);
	});
});
