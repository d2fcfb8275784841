import type { SimulatedProcess, World } from "./world.js";

interface Entry {
	readonly ino: number;
	/** Undefined: a folder. */
	data: Buffer | undefined;
	/** Milliseconds since 1970. */
	mtimeMs: number;
	birthtimeMs: number;
}

/** How a file system behaves. */
export interface DiskFaults {
	/** Every write fails. */
	full: boolean;
	/** Milliseconds that an operation takes. */
	delay: readonly [low: number, high: number];
}

/**
 * The files of a world, by absolute path. A process has its own part, below `/NAME`. An operation happens at one moment, some
 * time after it was begun: a process that is killed in between has written nothing, a part, or all of it.
 *
 * Paths may have `@NUMBER` after the process's name: libraries keep state by path in memory, which a killed process does not
 * leave to the next one.
 */
export class Disk {
	readonly faults: DiskFaults = { full: false, delay: [0.05, 0.6] };
	readonly #world: World;
	readonly #entries = new Map<string, Entry>();
	#inode = 1;

	constructor(world: World) {
		this.#world = world;
		this.#add("/", undefined);
	}

	/** Share of a write that is done if its process is killed during it: from 0 to 1. */
	part(): number {
		return this.#world.random.fraction();
	}

	/** Every path below a folder. */
	paths(folder: string): string[] {
		return [...this.#entries.keys()].filter((path) => path.startsWith(`${folder}/`));
	}

	/** The content of a file. */
	read(path: string): Buffer {
		const entry = this.#expect(path, "open");
		if (entry.data === undefined) {
			throw fault("EISDIR", "read", path);
		}
		return entry.data;
	}

	exists(path: string): boolean {
		return this.#entries.has(place(path));
	}

	stat(path: string) {
		const { data, ino, mtimeMs, birthtimeMs } = this.#expect(path, "stat");
		const isDirectory = data === undefined;
		return {
			mtimeMs,
			birthtimeMs,
			ctimeMs: mtimeMs,
			atimeMs: mtimeMs,
			get mtime() {
				return new Date(mtimeMs);
			},
			ino,
			size: data?.length ?? 0,
			mode: isDirectory ? 0o40_700 : 0o100_600,
			uid: 0,
			gid: 0,
			isDirectory: () => isDirectory,
			isFile: () => !isDirectory,
			isSymbolicLink: () => false,
		};
	}

	list(path: string): string[] {
		const folder = place(path);
		this.#expect(path, "scandir");
		const start = folder === "/" ? "/" : `${folder}/`;
		return [...this.#entries.keys()]
			.filter((each) => each !== "/" && each.startsWith(start) && !each.slice(start.length).includes("/"))
			.map((each) => each.slice(start.length))
			.sort();
	}

	write(path: string, data: Buffer, flag = "w"): void {
		const at = place(path);
		const known = this.#entries.get(at);
		if (flag.includes("x") && known !== undefined) {
			throw fault("EEXIST", "open", path);
		}
		this.#expectParent(path, "open");
		if (this.faults.full && data.length > 0) {
			throw fault("ENOSPC", "write", path);
		}
		if (known === undefined) {
			this.#add(at, Buffer.from(data));
			return;
		}
		known.data = flag.startsWith("a") ? Buffer.concat([known.data ?? Buffer.alloc(0), data]) : Buffer.from(data);
		known.mtimeMs = this.#date;
	}

	makeFolder(path: string, isRecursive: boolean): void {
		const at = place(path);
		if (this.#entries.has(at)) {
			if (!isRecursive) {
				throw fault("EEXIST", "mkdir", path);
			}
			return;
		}
		if (isRecursive) {
			this.makeFolder(parentOf(at), true);
		}
		this.#expectParent(path, "mkdir");
		this.#add(at, undefined);
	}

	rename(from: string, to: string): void {
		const entry = this.#expect(from, "rename");
		this.#entries.delete(place(from));
		this.#entries.set(place(to), entry);
	}

	remove(path: string, isForced = false): void {
		if (!this.#entries.delete(place(path)) && !isForced) {
			throw fault("ENOENT", "unlink", path);
		}
	}

	removeFolder(path: string): void {
		this.#expect(path, "rmdir");
		this.#entries.delete(place(path));
	}

	/** Sets when a file was changed. */
	touch(path: string, mtimeMs: number): void {
		this.#expect(path, "utime").mtimeMs = mtimeMs;
	}

	/**
	 * Runs an operation of a process after a while.
	 *
	 * @param torn runs a part of it instead, if the process is killed before
	 */
	async later<T>(process: SimulatedProcess | undefined, run: () => T, torn?: () => void): Promise<T> {
		const { random } = this.#world;
		return await new Promise((resolve, reject) => {
			let isDone = false;
			this.#world.at(random.between(...this.faults.delay), process, () => {
				const { crash } = process ?? {};
				if (crash !== undefined && crash.left-- <= 0) {
					crash.run();
					return;
				}
				isDone = true;
				try {
					resolve(run());
				} catch (error) {
					reject(error);
				}
			});
			if (torn !== undefined) {
				process?.onKilled.push(() => {
					if (!isDone) {
						ignoreErrors(random.chance(0.5) ? torn : run);
					}
				});
			}
		});
	}

	/** By the clock of the machine. */
	get #date(): number {
		return this.#world.date + (this.#world.current?.clockError ?? 0);
	}

	#add(path: string, data: Buffer | undefined): void {
		const time = this.#date;
		this.#entries.set(path, { ino: this.#inode++, data, mtimeMs: time, birthtimeMs: time });
	}

	#expect(path: string, call: string): Entry {
		const entry = this.#entries.get(place(path));
		if (entry === undefined) {
			throw fault("ENOENT", call, path);
		}
		return entry;
	}

	#expectParent(path: string, call: string): void {
		if (!this.#entries.has(parentOf(place(path)))) {
			throw fault("ENOENT", call, path);
		}
	}
}

function ignoreErrors(run: () => unknown): void {
	try {
		run();
	} catch {
		// The process is gone: there is no caller to notify.
	}
}

function place(path: string): string {
	const at = path.indexOf("@");
	const plain = at < 0 ? path : path.slice(0, at) + path.slice(path.indexOf("/", at));
	return plain.endsWith("/") ? plain.replace(/\/+$/, "") || "/" : plain;
}

function parentOf(path: string): string {
	return path.slice(0, path.lastIndexOf("/")) || "/";
}

function fault(code: string, syscall: string, path: string): NodeJS.ErrnoException {
	return Object.assign(new Error(`${code}: ${syscall} '${path}'`), { code, syscall, path });
}
