// Runs the Khronos validator over every glTF file of every run below a folder. Any error or warning is a failure.

const fs = require("fs");
const path = require("path");
const validator = require("gltf-validator");

async function check(file) {
  const bytes = new Uint8Array(fs.readFileSync(file));
  const { issues } = await validator.validateBytes(bytes, { maxIssues: 20 });
  if (issues.numErrors + issues.numWarnings > 0) {
    throw new Error(`${file}: ${JSON.stringify(issues.messages, null, 2)}`);
  }
}

async function main(folder) {
  let count = 0;
  for (const run of fs.readdirSync(folder)) {
    const own = path.join(folder, run, "glb");
    for (const name of fs.existsSync(own) ? fs.readdirSync(own) : []) {
      if (name.endsWith(".glb")) {
        await check(path.join(own, name));
        count += 1;
      }
    }
  }
  if (count === 0) throw new Error(`there are no glTF files below ${folder}`);
  console.log(`glb: ${count} files pass gltf-validator ${validator.version()} without errors and warnings`);
}

main(process.argv[2]).catch((error) => {
  console.error(error.message);
  process.exit(1);
});
