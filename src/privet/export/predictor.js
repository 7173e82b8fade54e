(function () {
  "use strict";

  const LEAF = -1;

  function makePredictor(model) {
    const { classes, attributes } = model;
    const coders = attributes.map((attribute) => (attribute.cuts ? numberCoder(attribute) : categoryCoder(attribute)));
    const forest = readTrees(model, placesOf(model));
    const { start, shares } = model.kind === "weights" ? scoring(model) : counting(model);
    const weighed = weighing(model);

    function predictProba(row) {
      return weighed(shares(addUp(forest, codesOf(row), start.slice())));
    }

    function predict(row) {
      const chances = predictProba(row);
      return classes[chances.indexOf(largest(chances))];
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

  // Whole numbers whose sums stay below 2^53, so that no addition rounds.
  function counting({ classes, fallback }) {
    return {
      start: classes.map(() => 0),
      shares: (votes) => (votes.some((votesOfClass) => votesOfClass > 0) ? parts(votes) : fallback.slice()),
    };
  }

  function scoring({ offsets, bend }) {
    return {
      start: offsets,
      shares: (scores) => {
        const most = largest(scores);
        return parts(parts(scores.map((score) => Math.exp(score - most))).map((share) => share * (1 - bend * share)));
      },
    };
  }

  function weighing({ class_weights: weights }) {
    return (chances) => (weights ? parts(chances.map((chance, c) => chance * weights[c])) : chances);
  }

  function parts(numbers) {
    const total = numbers.reduce((sum, number) => sum + number, 0);
    return numbers.map((number) => number / total);
  }

  function largest(numbers) {
    return numbers.reduce((most, number) => Math.max(most, number));
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

  // The position of the category, or the cell that it shares with neighbours; one more for a missing or unknown one.
  function categoryCoder({ name, categories, cells }) {
    const kind = typeof categories[0];
    const missing = countCells({ categories, cells });
    const cellOf = new Map(categories.map((category, code) => [category, cells ? cells[code] : code]));
    return (value) => {
      if (isMissing(value) || (value === "" && kind !== "string")) return missing;
      if (typeof value !== kind) {
        throw new TypeError(JSON.stringify(name) + " needs a " + kind + ", as its categories are; convert it first");
      }
      const cell = cellOf.get(value);
      return cell === undefined ? missing : cell;
    };
  }

  function countCells({ cuts, categories, cells }) {
    if (cuts) return cuts.length + 1;
    return cells ? cells[cells.length - 1] + 1 : categories.length;
  }

  // What trees ask for where it is not the attributes. A bit is the place of one of two children.
  function placesOf({ bits, places }) {
    return bits ? bits.map((bit) => ({ ...bit, grid: 1, children: 2 })) : places;
  }

  // Where a node leads: an inner one to the first of its children, a leaf to the first of its weights.
  function readTrees({ attributes, classes, trees, leaf_weights: weights, step = 1 }, places) {
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
        const tested = (places || attributes)[attribute[node]];
        if (tested.cuts) {
          cut[node] = trees.cut[nextCut];
          nextCut += 1;
        }
        leadsTo[node] = nextChild;
        nextChild += cut[node] >= 0 ? 2 : tested.children || countCells(tested) + 1;
      }
    }
    const stepped = Float64Array.from(weights, (weight) => weight * step);
    return { count: trees.count, attribute, cut, leadsTo, weights: stepped, places };
  }

  function addUp(forest, codes, sums) {
    const { count, leadsTo, weights, places } = forest;
    const found = places ? places.map(({ attribute, of_code: ofCode }) => ofCode[codes[attribute]]) : codes;
    const isSoft = places && places.some(({ grid }) => grid > 1);
    for (let root = 0; root < count; root += 1) {
      if (isSoft) {
        weightsOfParts(forest, root, found, sums.length).forEach((weight, c) => (sums[c] += weight));
      } else {
        const first = leadsTo[leafOf(forest, root, found)];
        for (let c = 0; c < sums.length; c += 1) sums[c] += weights[first + c];
      }
    }
    return sums;
  }

  function leafOf({ attribute, cut, leadsTo }, root, codes) {
    let node = root;
    while (attribute[node] !== LEAF) {
      const code = codes[attribute[node]];
      node = leadsTo[node] + (cut[node] < 0 ? code : Number(code > cut[node]));
    }
    return node;
  }

  // What a row gets that stands between children: a part of each. Parts are binary fractions, so exact.
  function weightsOfParts(forest, node, found, nClasses) {
    const { attribute, leadsTo, weights, places } = forest;
    if (attribute[node] === LEAF) return weights.subarray(leadsTo[node], leadsTo[node] + nClasses);
    const place = found[attribute[node]] / places[attribute[node]].grid;
    const child = leadsTo[node] + Math.floor(place);
    const part = place - Math.floor(place);
    const near = weightsOfParts(forest, child, found, nClasses);
    if (part === 0) return near;
    const next = weightsOfParts(forest, child + 1, found, nClasses);
    return near.map((weight, c) => (1 - part) * weight + part * next[c]);
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
