/** The constant data of a module, or of something outside modules, in bytes. */
export interface ConstantData {
	readonly name: string;
	/** Preloaded objects: slots of 16 bytes. */
	readonly objects: number;
	/** Byte code. */
	readonly code: number;
	/** Texts and buffers. */
	readonly texts: number;
}

interface Slot {
	readonly kind: string;
	readonly id: number;
	readonly next: number | undefined;
	/** The slots to which its value points. */
	readonly refers: readonly number[];
	/** Of its literal: byte code, text or a name. */
	readonly literal: string;
	/** The id of a module's name. */
	readonly value: number;
}

/** A slot and its owner. */
type Claim = readonly [number, string];

const SLOT_BYTES = 16;
const BUILT_INS = "built-ins of XS";
const NAMES = "names of properties and modules";
const REST = "rest";

/**
 * Finds what the modules of a build take of its constant data. A function belongs to the module that its home names, any
 * other object to the module that reaches it first.
 *
 * @param linked the linker's output: mc.xs.c
 * @returns the largest first
 */
export function explainConstantData(linked: string): ConstantData[] {
	const heap = readSlots(linked, "gxHeap");
	const owners = findOwners(heap, readSlots(linked, "gxStack"));
	const sums = new Map<string, { objects: number; code: number; texts: number }>();
	const sumOf = (name: string) => {
		const sum = sums.get(name) ?? { objects: 0, code: 0, texts: 0 };
		sums.set(name, sum);
		return sum;
	};
	for (const [at, slot] of heap.entries()) {
		const sum = sumOf(slot.kind === "KEY_X" ? NAMES : (owners[at] ?? REST));
		sum.objects += SLOT_BYTES;
		sum[slot.kind === "CODE_X" ? "code" : "texts"] += literalBytes(slot);
	}
	for (const [, name, bytes] of linked.matchAll(/\(txS1\*\)gxCode\d+, (\d+), NULL, 0, "([^"]+)"/g)) {
		sumOf(bytes as string).code += Number(name);
	}
	return [...sums].map(([name, sum]) => ({ name, ...sum })).sort((a, b) => totalOf(b) - totalOf(a));
}

export function totalOf({ objects, code, texts }: Omit<ConstantData, "name">): number {
	return objects + code + texts;
}

function readSlots(linked: string, array: string): Slot[] {
	const begin = linked.indexOf(`static const txSlot ${array}[`, linked.indexOf(`static const txSlot ${array}[`) + 1);
	const lines = linked.slice(begin, linked.indexOf("\n};", begin)).split("\n").slice(1);
	return lines.map((line) => {
		const [, next, id, kind, value] =
			line.match(
				/\{ (NULL|\(txSlot\*\)(?:\d+|&gxHeap\[\d+\])), \{\.ID = ([^,]+),.*?\.kind = XS_(\w+)_KIND\}, ?(.*)$/,
			) ?? [];
		const literal = value?.match(/"((?:[^"\\]|\\.)*)"/)?.[1] ?? "";
		return {
			kind: kind ?? "",
			id: Number(id),
			next: pointersIn(next)[0],
			refers: kind === "ARRAY" ? itemsOf(value) : pointersIn(value?.replace(/"(?:[^"\\]|\\.)*"/g, "")),
			literal,
			value: Number(value?.match(/\.module = \{ \w+, (\d+)/)?.[1]),
		};
	});
}

function pointersIn(text = ""): number[] {
	return [...text.matchAll(/&gxHeap\[(\d+)\]/g)].map(([, at]) => Number(at));
}

/** An array's items lie one after another. */
function itemsOf(value = ""): number[] {
	const [, first, count] = value.match(/\.array = \{ .*?\[(\d+)\], (\d+)/) ?? [];
	return Array.from({ length: Number(count ?? 0) }, (_, at) => Number(first) + at);
}

function literalBytes({ literal, kind }: Slot): number {
	const bytes = literal.replace(/\\(?:x[\da-f]{2}|[0-7]{1,3}|.)/gi, "#").length;
	return literal === "" && kind !== "STRING_X" ? 0 : bytes + 1;
}

/**
 * Names the owner of each slot. Objects do not name their module, so each goes to the first that reaches it:
 * by a function of its own, by an export of its own, as a built-in, or by anything else.
 */
function findOwners(heap: readonly Slot[], stack: readonly Slot[]): (string | undefined)[] {
	const owners: (string | undefined)[] = [];
	const modules = findModules(heap);
	const claimAll = (roots: readonly Claim[]): void => {
		const waiting = [...roots];
		for (let at = 0; at < waiting.length; at += 1) {
			const [slot, owner] = waiting[at] as Claim;
			if (owners[slot] === undefined && heap[slot]?.kind !== "KEY_X") {
				owners[slot] = owner;
				waiting.push(...pointersOf(heap, slot).map((next): Claim => [next, owner]));
			}
		}
	};
	const roots = stack.flatMap(({ refers }) => refers);
	const table = roots.find((at) => pointersOf(heap, heap[at]?.next).some((to) => modules.has(to)));
	const known = [...modules, ...functionsOf(heap, modules), ...chainFrom(heap, table).map((at): Claim => [at, NAMES])];
	for (const [at, owner] of known) {
		owners[at] ??= owner;
	}
	claimAll(exportsOf(heap, modules));
	claimAll(roots.map((at) => [at, BUILT_INS]));
	claimAll(
		known
			.filter(([, owner]) => owner !== NAMES)
			.flatMap(([at, owner]) => pointersOf(heap, at).map((to): Claim => [to, owner])),
	);
	return owners;
}

/** The slots of the functions whose home names their module, and of what they have from around them. */
function functionsOf(heap: readonly Slot[], modules: ReadonlyMap<number, string>): Claim[] {
	return heap.flatMap(({ kind }, at): Claim[] => {
		const chain = kind === "INSTANCE" ? chainFrom(heap, at) : [];
		const find = (kind: string) => heap[chain.find((each) => heap[each]?.kind === kind) ?? -1]?.refers ?? [];
		const module = find("HOME")
			.map((to) => modules.get(to))
			.find((name) => name !== undefined);
		const slots = [...chain, ...find("CODE_X").flatMap((to) => chainFrom(heap, to))];
		return module === undefined ? [] : slots.map((slot) => [slot, module]);
	});
}

/** Exports of modules that they do not import from others. */
function exportsOf(heap: readonly Slot[], modules: ReadonlyMap<number, string>): Claim[] {
	return heap.flatMap(({ kind, refers: [closure, module] }): Claim[] => {
		const name = kind === "EXPORT" ? modules.get(module ?? -1) : undefined;
		return name === undefined || closure === undefined ? [] : [[closure, name]];
	});
}

/** The modules' instances, and their names. */
function findModules(heap: readonly Slot[]): Map<number, string> {
	const names = new Map(heap.filter(({ kind }) => kind === "KEY_X").map(({ id, literal }) => [id, literal]));
	const modules = new Map<number, string>();
	for (const [at, { kind, next }] of heap.entries()) {
		const head = heap[next ?? -1];
		if (kind === "INSTANCE" && head?.kind === "MODULE") {
			modules.set(at, names.get(head.value) ?? `module ${head.value}`);
		}
	}
	return modules;
}

function pointersOf(heap: readonly Slot[], at: number | undefined): number[] {
	const { next, refers = [] } = heap[at ?? -1] ?? {};
	return next === undefined ? [...refers] : [next, ...refers];
}

/** A slot, and those that follow it. */
function chainFrom(heap: readonly Slot[], from: number | undefined): number[] {
	const chain: number[] = [];
	for (let at = from; at !== undefined; at = heap[at]?.next) {
		chain.push(at);
	}
	return chain;
}
