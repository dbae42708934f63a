// Package bench measures the product over HTTP and, in the same run and on the same machine, what the machine could do
// at most: an order that is only decoded and encoded, the gate's scripts alone, the ledger's rows alone. The product is
// judged by the ratio of the two, which depends far less on the machine than either of them.
//
// One run needs a server that was started for it (without limits, on a database that is meant for benchmarks), the same
// database and Redis for the raw limits, and QR tokens of a branch that Seed has made.
//
//	B1  it asks only servers of this machine, and every measurement ends by itself (package load)
//	B2  it writes into a database only where the caller says that this is what the database is for
//	B3  the raw rows go to a schema or file of their own, which is gone afterwards: the server's workers do not see them
//	B4  between two measurements it waits until the server has worked off what the first one left behind
package bench
