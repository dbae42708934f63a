// Package price computes what an order or a bill costs: discounts, service charges, taxes and cash rounding. It reads no
// clock and no store, and uses no floating point. Orders of branches with taxes, service charges or discounts are priced
// by it, and store its input and its result as a QuoteRecord.
//
// Amounts are integers in the smallest unit of the currency, at most money.Max. Percents and tax rates are decimal
// strings with at most four decimals, such as "8.875"; inside they are integers in millionths (88750), and products are
// taken in 128 bits. Tips are not part of a quote: they are outside of tax, and belong to a payment.
//
// A quote is computed in this order:
//
//  1. A line costs its price times its quantity.
//  2. Discounts: percents of lines, percents of the bill, amounts of lines, amounts of the bill. All percents of one level
//     apply to the same base. Each discount is rounded once and is at most what is left; one of the bill is allocated to
//     the lines in proportion to what is left of them. This is Square's published sequence.
//  3. Service charges, each rounded once and allocated to the lines.
//  4. Taxes, rounded once per rate and bill, or per line.
//  5. Cash rounding of the total.
//
// P1: the lines' discounts, services and taxes add up to those of the quote, and the taxes per rate to those of the
// lines. P2: a permutation of the lines permutes the result's lines and changes nothing else; equal lines may swap their
// parts. P3: no amount of a quote is negative, except the rounding. P4: after a discount of 100 %, the total and the taxes
// are 0 unless a service charge is an amount or is taken before discounts.
package price
