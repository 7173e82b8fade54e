(function () {
  "use strict";

  const LEAF = -1;

  function makePredictor(model) {
    const { classes, attributes, fallback } = model;
    const coders = attributes.map((attribute) => (attribute.cuts ? numberCoder(attribute) : categoryCoder(attribute)));
    const forest = readTrees(model);

    function predictProba(row) {
      const votes = countVotes(forest, codesOf(row), classes.length);
      const total = votes.reduce((sum, votesOfClass) => sum + votesOfClass, 0);
      return total > 0 ? Array.from(votes, (votesOfClass) => votesOfClass / total) : fallback.slice();
    }

    function predict(row) {
      const shares = predictProba(row);
      return classes[shares.indexOf(shares.reduce((most, share) => Math.max(most, share)))];
    }

    function codesOf(row) {
      if (row === null || typeof row !== "object") {
        throw new TypeError("a row is an object by column name, or an array in the order of attributes");
      }
      const inOrder = Array.isArray(row) || ArrayBuffer.isView(row);
      if (inOrder && row.length !== attributes.length) {
        throw new RangeError("a row needs one value per attribute, " + attributes.length + " in all");
      }
      return attributes.map(({ name }, j) => coders[j](inOrder ? row[j] : valueIn(row, name)));
    }

    return { predict, predictProba };
  }

  function valueIn(row, name) {
    if (!Object.prototype.hasOwnProperty.call(row, name)) {
      throw new TypeError("the row lacks " + JSON.stringify(name) + "; pass null where it is missing");
    }
    return row[name];
  }

  function isMissing(value) {
    return value === undefined || value === null || Number.isNaN(value);
  }

  // The number of cuts up to the value; one more than there are cells for a missing one.
  function numberCoder({ name, cuts }) {
    return (value) => {
      if (isMissing(value) || value === "") return cuts.length + 1;
      if (typeof value !== "number" && typeof value !== "boolean") {
        throw new TypeError(JSON.stringify(name) + " needs a number; convert it first, such as by Number()");
      }
      let low = 0;
      let high = cuts.length;
      while (low < high) {
        const middle = (low + high) >>> 1;
        if (cuts[middle] <= value) low = middle + 1;
        else high = middle;
      }
      return low;
    };
  }

  // The position of the category; the number of categories for a missing or unknown one.
  function categoryCoder({ name, categories }) {
    const kind = typeof categories[0];
    const position = new Map(categories.map((category, code) => [category, code]));
    return (value) => {
      if (isMissing(value) || (value === "" && kind !== "string")) return categories.length;
      if (typeof value !== kind) {
        throw new TypeError(JSON.stringify(name) + " needs a " + kind + ", as its categories are; convert it first");
      }
      const code = position.get(value);
      return code === undefined ? categories.length : code;
    };
  }

  // Where a node leads: an inner one to the first of its children, a leaf to the first of its weights.
  function readTrees({ attributes, classes, trees, leaf_weights: weights }) {
    const attribute = Int32Array.from(trees.attribute);
    const cut = new Int32Array(attribute.length).fill(-1);
    const leadsTo = new Int32Array(attribute.length);
    let nextChild = trees.count;
    let nextCut = 0;
    let nextWeight = 0;
    for (let node = 0; node < attribute.length; node += 1) {
      if (attribute[node] === LEAF) {
        leadsTo[node] = nextWeight;
        nextWeight += classes.length;
      } else {
        const { cuts, categories } = attributes[attribute[node]];
        if (cuts) {
          cut[node] = trees.cut[nextCut];
          nextCut += 1;
        }
        leadsTo[node] = nextChild;
        nextChild += cut[node] >= 0 ? 2 : cuts ? cuts.length + 2 : categories.length + 1;
      }
    }
    return { count: trees.count, attribute, cut, leadsTo, weights: Float64Array.from(weights) };
  }

  // Whole numbers whose sums stay below 2^53, so that no addition rounds.
  function countVotes({ count, attribute, cut, leadsTo, weights }, codes, nClasses) {
    const votes = new Float64Array(nClasses);
    for (let root = 0; root < count; root += 1) {
      let node = root;
      while (attribute[node] !== LEAF) {
        const code = codes[attribute[node]];
        const child = cut[node] < 0 ? code : Number(code > cut[node]);
        node = leadsTo[node] + child;
      }
      for (let c = 0; c < nClasses; c += 1) votes[c] += weights[leadsTo[node] + c];
    }
    return votes;
  }

  const model = "the portable document";
  const { predict, predictProba } = makePredictor(model);
  const { classes, attributes, target, guarantee } = model;
  if (typeof module === "object" && module !== null && module.exports) {
    module.exports = { predict, predictProba, classes, attributes, target, guarantee };
  } else {
    globalThis.privet = { predict, predictProba, classes, attributes, target, guarantee };
  }
})();
