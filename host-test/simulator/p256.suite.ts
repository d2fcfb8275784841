import { fromHex } from "../../src/core/text/hex.js";
import { verifyP256 } from "../../src/hardware/drivers/p256.js";
import { equal, suite } from "../harness.js";

// Signatures that Node's crypto has made, checked by the SDK's.

const SIGNED = [
	{
		key:
			"04c09770dcf4590ec104e3a72f9a1d009385bbee1934751d92448f20fd47ac3a4b" +
			"f4b816dbc018eb403c11d1279298fc7c14d368653d00166cdd35bea5d06954bc",
		digest: "40784fb9652c9b20e7e1b9b1bb00b7f60942fbf530da14d0176cee894b35f91e",
		signature:
			"cafee03076d0e8b3805d07c9e7f132ef0b1ff2d9e44bbc917183563ccf914743" +
			"b745b1a7e8563ebbe64a6036619387224e5997d85f265d8ba4f6270231e4b963",
	},
	{
		key:
			"043c94c676d9404234357afb04e17a246b951dbdcc501f7d8a20972fbdb68bc028" +
			"c150c1c0a38b8c534816433195147e8670ed606759f69b4a350a8411ea43c04d",
		digest: "ca4cb2e6f1c84dc7db56958ba7fdf9cd0526c5d1aa6094fe5a3268ccddf58de4",
		signature:
			"c01668b6ac9cec5efdbc85c6d75a5834524e00cb8b92d92f280801ebc13c79a5" +
			"72fa9ae7fb059ff431e1e4dccb5bdf10471611c2695d0c4ad012789cd51b54cb",
	},
] as const;

/** The order of P-256. */
const ORDER = "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551";
const ZERO = "0".repeat(64);

const verify = (key: string, digest: string, signature: string): boolean => {
	const [keyBytes, digestBytes, signatureBytes] = [key, digest, signature].map((text) => fromHex(text) as ArrayBuffer);
	return verifyP256(keyBytes as ArrayBuffer, digestBytes as ArrayBuffer, signatureBytes as ArrayBuffer);
};

export default suite("signatures of firmware, on the SDK's elliptic curves", {
	"are right if key, digest and signature belong together, and only then"() {
		for (const { key } of SIGNED) {
			for (const { digest } of SIGNED) {
				for (const { signature } of SIGNED) {
					const belongs = SIGNED.some(
						(each) => each.key === key && each.digest === digest && each.signature === signature,
					);
					equal(verify(key, digest, signature), belongs);
				}
			}
		}
	},
	"are wrong if a bit of them is another"() {
		const [{ key, digest, signature }] = SIGNED;
		for (const at of [0, 63, 64, 127]) {
			const digit = (Number.parseInt(signature[at] ?? "0", 16) ^ 1).toString(16);
			equal(verify(key, digest, signature.slice(0, at) + digit + signature.slice(at + 1)), false);
		}
	},
	"are wrong if r or s is 0, or not below the curve's order"() {
		const [{ key, digest, signature }] = SIGNED;
		const [r, s] = [signature.slice(0, 64), signature.slice(64)];
		for (const wrong of [
			ZERO + s,
			r + ZERO,
			ZERO + ZERO,
			ORDER + s,
			r + ORDER,
			"f".repeat(64) + s,
			r + "f".repeat(64),
		]) {
			equal(verify(key, digest, wrong), false);
		}
	},
});
