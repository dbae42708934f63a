// Package stockhttp serves stock over HTTP: Try, Confirm and Cancel for other systems, and stock management for
// staff. Paths and shapes are those of the API document; the package contains no rules.
package stockhttp
