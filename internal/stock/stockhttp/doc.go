// Package stockhttp is the stock over HTTP: the inventory of other systems with its Try, Confirm and Cancel, and what the
// staff keep of it. Paths and shapes are those of the API document; there are no rules here.
package stockhttp
