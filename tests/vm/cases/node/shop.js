// SPDX-License-Identifier: Apache-2.0
// Writes from a function in a function, before its code is compiled and after that.
'use strict';
const fs = require('fs');
const file = fs.openSync('/dev/null', 'w');
function leafOfShop(n) {
	return fs.writeSync(file, n < 10 ? 'shop early\n' : 'shop\n');
}
function middleOfShop(n) {
	return leafOfShop(n) + 1;
}
for (let n = 0; n < 300; n++)
	middleOfShop(n);
