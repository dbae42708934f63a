// Package brand manages the restaurant's own brand: its name, accent colour, logo and cover picture, the texts of the
// welcome page, address and telephone number. Guests see it on their phones and on the public page.
//
// The brand is one row of the restaurant's settings (package settings), so it is stored, locked, audited and followed by
// other processes like a setting. It is not itself a setting, because it has pictures and texts in several languages and
// no variable of the environment.
//
// Invariants:
//
//  1. An owner chooses one colour. Every shade that guests see is derived from it and satisfies WCAG 2.2, success
//     criteria 1.4.3 (text 4.5:1) and 1.4.11 (controls 3:1), on light and on dark ground.
//  2. Pictures are re-encoded before they are stored, like those of dishes.
package brand
