// The hero: see hero.py.
function explorable(root, data, kit) {}
