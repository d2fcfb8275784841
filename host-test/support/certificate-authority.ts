import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export interface ServerCertificate {
	readonly key: Buffer;
	/** The leaf, then the CA, because the SDK's TLS wants both. */
	readonly cert: string;
}

const MANIFEST = {
	build: { NAME: "xs-mcp" },
	include: ["../../manifest.json"],
	config: { certificate: "test-ca.der" },
	resources: { "*": ["./test-ca"] },
};

/** Makes a folder, two levels deep in the project, to build the firmware from. It trusts a new CA. */
export function makeTrustingFirmware(folder: string, address?: string): ServerCertificate {
	mkdirSync(folder, { recursive: true });
	writeFileSync(join(folder, "manifest.json"), JSON.stringify(MANIFEST));
	return makeAuthority(folder, address);
}

/**
 * Makes a CA and a certificate for an address, valid for two days. Not for a name, because not every computer's resolver knows
 * localhost.
 */
export function makeAuthority(folder: string, address = "127.0.0.1"): ServerCertificate {
	const file = (name: string): string => join(folder, name);
	const openssl = (...args: string[]): unknown => execFileSync("openssl", args, { stdio: "ignore" });
	const newKey = ["-newkey", "rsa:2048", "-nodes"];
	writeFileSync(file("leaf.ext"), `subjectAltName=IP:${address}\nbasicConstraints=CA:FALSE\n`);
	openssl("req", "-x509", ...newKey, "-days", "2", "-subj", "/CN=xs-mcp test", ...out("ca"));
	openssl("req", ...newKey, "-subj", `/CN=${address}`, "-keyout", file("leaf.key"), "-out", file("leaf.csr"));
	const signed = ["-CA", file("ca.crt"), "-CAkey", file("ca.key"), "-CAcreateserial", "-extfile", file("leaf.ext")];
	openssl("x509", "-req", "-days", "2", "-in", file("leaf.csr"), ...signed, "-out", file("leaf.crt"));
	openssl("x509", "-in", file("ca.crt"), "-outform", "der", "-out", file("test-ca.der"));
	const read = (name: string): string => readFileSync(file(name), "utf8");
	return { key: readFileSync(file("leaf.key")), cert: read("leaf.crt") + read("ca.crt") };

	function out(name: string): string[] {
		return ["-keyout", file(`${name}.key`), "-out", file(`${name}.crt`)];
	}
}
