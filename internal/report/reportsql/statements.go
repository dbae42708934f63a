// Package reportsql reads the figures from orders, payments and counters. It writes nothing and takes no locks: a
// report reflects the instant at which its statement began.
package reportsql

import (
	"embed"

	"comanda/internal/sqldb"
)

//go:embed *.sql
var files embed.FS

// Statements are all statements of this package.
var Statements = sqldb.Load(files)

var (
	salesCells      = Statements.Must("sales_cells")
	salesDays       = Statements.Must("sales_days")
	dishSales       = Statements.Must("dish_sales")
	quotaDays       = Statements.Must("quota_days")
	paymentAttempts = Statements.Must("payment_attempts")
	paymentFailures = Statements.Must("payment_failures")
	refundDays      = Statements.Must("refund_days")
	endedDays       = Statements.Must("ended_days")
	ticketTimes     = Statements.Must("ticket_times")
)
