import realFs from "node:fs";
import type { Disk } from "./disk.js";
import type { SimulatedProcess } from "./world.js";

interface Machine {
	readonly disk: Disk;
	readonly process: SimulatedProcess | undefined;
}

type Encoding = string | { readonly encoding?: string; readonly flag?: string } | undefined;
type Callback = (error: Error | null, result?: unknown) => void;

/** Streams and records, which libraries look at when they are loaded. */
const KEPT = ["ReadStream", "WriteStream", "FileReadStream", "FileWriteStream", "Stats", "Dirent", "constants"];

/** The modules `fs` and `fs/promises` for simulated processes. */
export interface FileSystem {
	readonly fs: Record<string, unknown>;
	readonly promises: Record<string, unknown>;
}

/** @param machine returns the process that calls, and its disk */
export function makeFileSystem(machine: () => Machine): FileSystem {
	const sync = synchronous(machine);
	const promises = asynchronous(machine);
	const missing = Object.fromEntries(
		Object.entries(realFs)
			.filter(([name, value]) => typeof value === "function" && !KEPT.includes(name))
			.map(([name]) => [name, refuse(name)]),
	);
	const kept = Object.fromEntries(KEPT.map((name) => [name, realFs[name as keyof typeof realFs]]));
	const callbacks = Object.fromEntries(
		["mkdir", "stat", "lstat", "utimes", "rmdir", "realpath", "open", "write", "fsync", "close", "chown", "chmod"]
			.concat(["rename", "unlink"])
			.map((name) => [name, withCallback(promises[name] as (...args: unknown[]) => Promise<unknown>)]),
	);
	return { fs: { ...missing, ...kept, ...sync, ...callbacks, promises }, promises };
}

function refuse(name: string) {
	return () => {
		throw new Error(`fs.${name} is not part of the simulation`);
	};
}

function withCallback(run: (...args: unknown[]) => Promise<unknown>) {
	return (...args: unknown[]): void => {
		const callback = args.pop() as Callback;
		run(...args).then(
			(result) => callback(null, result),
			(error: Error) => callback(error),
		);
	};
}

function decoded(data: Buffer, encoding: Encoding): string | Buffer {
	const name = typeof encoding === "string" ? encoding : encoding?.encoding;
	return name === undefined ? Buffer.from(data) : data.toString(name as BufferEncoding);
}

function bytesOf(data: string | Uint8Array): Buffer {
	return typeof data === "string" ? Buffer.from(data) : Buffer.from(data);
}

function flagOf(options: Encoding): string {
	return (typeof options === "object" ? options.flag : undefined) ?? "w";
}

function millisecondsOf(time: Date | number): number {
	return typeof time === "number" ? time * 1_000 : time.getTime();
}

/** Open files: a descriptor is only a path. */
const descriptors = new Map<number, string>();
let descriptor = 100;

function opened(path: string): number {
	descriptor += 1;
	descriptors.set(descriptor, path);
	return descriptor;
}

function pathOf(file: string | number): string {
	return typeof file === "number" ? (descriptors.get(file) ?? "") : file;
}

function synchronous(machine: () => Machine) {
	const disk = (): Disk => machine().disk;
	return {
		existsSync: (path: string) => disk().exists(path),
		readFileSync: (path: string, encoding?: Encoding) => decoded(disk().read(path), encoding),
		statSync: (path: string, { throwIfNoEntry = true } = {}) =>
			throwIfNoEntry || disk().exists(path) ? disk().stat(path) : undefined,
		mkdirSync: (path: string, { recursive = false } = {}) => disk().makeFolder(path, recursive),
		writeFileSync: (file: string | number, data: string | Uint8Array, options?: Encoding) =>
			disk().write(pathOf(file), bytesOf(data), flagOf(options)),
		rmSync: (path: string, { force = false } = {}) => disk().remove(path, force),
		unlinkSync: (path: string) => disk().remove(path),
		renameSync: (from: string, to: string) => disk().rename(from, to),
		realpathSync: (path: string) => path,
		openSync: (path: string, flag: string) => {
			disk().write(path, Buffer.alloc(0), flag);
			return opened(path);
		},
		writeSync: (file: number, data: string | Uint8Array) => {
			disk().write(pathOf(file), bytesOf(data), "a");
			return data.length;
		},
		closeSync: (file: number) => void descriptors.delete(file),
		fsyncSync: () => {},
		chmodSync: () => {},
		chownSync: () => {},
		rmdirSync: (path: string) => disk().removeFolder(path),
	};
}

function asynchronous(machine: () => Machine): Record<string, unknown> {
	const later = <T>(run: (disk: Disk) => T, torn?: (disk: Disk) => void): Promise<T> => {
		const { disk, process } = machine();
		return disk.later(process, () => run(disk), torn && (() => torn(disk)));
	};
	const write = (file: string | number, data: string | Uint8Array, flag: string): Promise<void> => {
		const path = pathOf(file);
		const bytes = bytesOf(data);
		const { disk, process } = machine();
		const part = bytes.subarray(0, Math.floor(bytes.length * disk.part()));
		return disk.later(
			process,
			() => disk.write(path, bytes, flag),
			() => disk.write(path, part, flag),
		);
	};
	const stat = (path: string) => later((disk) => disk.stat(path));
	const unlink = (path: string) => later((disk) => disk.remove(path));
	return {
		mkdir: (path: string, options?: { recursive?: boolean } | number) =>
			later((disk) => disk.makeFolder(path, typeof options === "object" && options.recursive === true)),
		readdir: (path: string) => later((disk) => disk.list(path)),
		readFile: (path: string, encoding?: Encoding) => later((disk) => decoded(disk.read(path), encoding)),
		writeFile: (file: string, data: string | Uint8Array, options?: Encoding) => write(file, data, flagOf(options)),
		appendFile: (file: string, data: string | Uint8Array) => write(file, data, "a"),
		rename: (from: string, to: string) => later((disk) => disk.rename(from, to)),
		rm: (path: string, { force = false } = {}) => later((disk) => disk.remove(path, force)),
		unlink,
		stat,
		lstat: stat,
		realpath: (path: string) =>
			later((disk) => {
				disk.stat(path);
				return path;
			}),
		utimes: (path: string, _accessed: unknown, changed: Date | number) =>
			later((disk) => disk.touch(path, millisecondsOf(changed))),
		rmdir: (path: string) => later((disk) => disk.removeFolder(path)),
		open: async (path: string, flag = "r") => {
			await later((disk) => (flag === "r" ? disk.read(path) : disk.write(path, Buffer.alloc(0), flag)));
			return fileHandle(opened(path), write);
		},
		write: async (file: FileNumber, data: string | Uint8Array) => {
			await write(Number(file), data, "a");
			return data.length;
		},
		fsync: async () => {},
		close: async (file: FileNumber) => void descriptors.delete(Number(file)),
		chown: async () => {},
		chmod: async () => {},
	};
}

/** A descriptor, or a handle in its place. */
type FileNumber = { valueOf(): number };

/** A handle of `fs/promises`, which is also the descriptor of `fs.open`. */
function fileHandle(file: number, write: (file: number, data: string | Uint8Array, flag: string) => Promise<void>) {
	return {
		valueOf: () => file,
		appendFile: (data: string | Uint8Array) => write(file, data, "a"),
		writeFile: (data: string | Uint8Array) => write(file, data, "a"),
		sync: async () => {},
		datasync: async () => {},
		close: async () => void descriptors.delete(file),
	};
}
