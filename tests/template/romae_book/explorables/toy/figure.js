// The error of the chosen seed, as a number.
function explorable(root, data, kit) {
  const shown = kit.el("p");
  const choose = seed => {
    shown.textContent = `mean squared error ${data.errors[seed].toFixed(3)}`;
    kit.state({seed, error: data.errors[seed].toFixed(3)});
  };
  root.append(kit.slider({label: "Seed", min: 0, max: data.errors.length - 1, value: 0, change: choose}).node, shown);
  choose(0);
}
