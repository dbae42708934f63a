// Package mutant checks the tests themselves. Each of its bugs is a mistake that is easily made in the stock or in
// what its messages rely on; planted into a build of its own, it must be found by a test within two minutes.
//
// The program has no trace of them: a bug is a replacement of text that goes into one build by the overlay of the go
// command. Every run of the tests checks that the text is still there, once; planting takes the build tag mutant:
//
//	make mutants
package mutant
