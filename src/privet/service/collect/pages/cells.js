// The cells of questions in words. A code of a cell is row-major: the attributes in order, the label last.

const DEFAULT_CELLS = 255;

/** Return the attribute of a name; the label is one too. */
export function attributeOf({ attributes, classes, target }, name) {
  if (name === target) return { name, type: "categorical", categories: classes, never_missing: true };
  return attributes.find((attribute) => attribute.name === name);
}

/** Return the cells of an attribute in words. */
export function cellTexts(attribute, words) {
  const { name, type, categories, never_missing: isNeverMissing } = attribute;
  const texts = type === "continuous" ? rangesOf(attribute, words) : categories.map((one) => words.value(name, one));
  return isNeverMissing ? texts : [...texts, words.say("asking.none")];
}

function rangesOf({ bounds: [low, high], bins, edges }, words) {
  const count = bins ?? DEFAULT_CELLS;
  const inner = edges ?? Array.from({ length: count - 1 }, (_, i) => low + ((high - low) * (i + 1)) / count);
  const ends = [low, ...inner, high].map((end) => words.number(end));
  return ends.slice(1).map((end, i) => words.say("cell.range", { low: ends[i], high: end }));
}

/** Return the code of an attribute's value. */
export function codeOf({ type, categories, bounds: [low, high] = [0, 0], bins, edges }, value) {
  if (type !== "continuous") return value === null ? categories.length : categories.indexOf(value);
  const count = edges ? edges.length + 1 : bins ?? DEFAULT_CELLS;
  if (value === null) return count;
  if (edges) return edges.filter((edge) => edge <= value).length;
  const cuts = Array.from({ length: count - 1 }, (_, i) => low * (1 - (i + 1) / count) + high * ((i + 1) / count));
  return cuts.filter((cut) => cut <= value).length;
}

/** Return a cell of a question as pairs of field and text. */
export function cellInWords(schema, { fields }, code, words) {
  let rest = code;
  const told = [];
  for (const name of [...fields, schema.target].reverse()) {
    const texts = cellTexts(attributeOf(schema, name), words);
    told.unshift([name, texts[rest % texts.length]]);
    rest = Math.floor(rest / texts.length);
  }
  return told;
}

/** Return the code of the cell that a record is in. */
export function cellOf(schema, { fields }, record) {
  let code = 0;
  for (const name of [...fields, schema.target]) {
    const attribute = attributeOf(schema, name);
    const sizes = attribute.type === "continuous" ? rangeCount(attribute) : attribute.categories.length;
    code = code * (sizes + (attribute.never_missing ? 0 : 1)) + codeOf(attribute, record[name]);
  }
  return code;
}

function rangeCount({ bins, edges }) {
  return edges ? edges.length + 1 : bins ?? DEFAULT_CELLS;
}
