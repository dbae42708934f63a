// Package bench measures the product over HTTP and, in the same run on the same machine, the raw limits of the machine:
// decoding and encoding an order only, the admission scripts alone, the ledger's rows alone, and the floor, a bare
// program that keeps orders and does nothing else. The ratio of the product to them depends far less on the machine
// than either of them.
//
// A run needs a server that was started for it (without limits, on a benchmark database), the same database and Redis
// for the raw limits, and QR tokens of a branch that Seed has created.
//
//	B1  it connects only to servers of this machine, and every measurement ends by itself (package load)
//	B2  it writes to a database only if the caller confirms that it is meant for benchmarks
//	B3  raw rows go to a separate schema or file, those of the floor to tables of its own; both are removed afterwards, and
//	    the server's workers do not process them
//	B4  between two measurements it waits until the server has processed the backlog of the first
package bench
