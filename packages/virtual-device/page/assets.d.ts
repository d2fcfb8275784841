declare module "*.css";

/** A file of the bundle, by its URL. */
declare module "*.worklet.js" {
	const url: string;
	export default url;
}
