-- One row for each transaction, from the facts in the file(s) that the environment variable FACTS names.
CREATE OR REPLACE TEMP VIEW facts AS FROM waybill_ndjson(getenv('FACTS'));

CREATE OR REPLACE TEMP TABLE transactions AS
SELECT transaction_id,
    any_value(use_case_name) AS use_case,
    any_value(attributes->>'variant') FILTER (kind = 'opened' AND NOT is_joined) AS variant,
    any_value(outcome) FILTER (kind = 'closed' AND NOT is_joined) AS outcome, -- NULL: not closed, or not here yet
    any_value(duration_us) FILTER (kind = 'closed' AND NOT is_joined) AS duration_us,
    list(DISTINCT name) FILTER (kind = 'event') AS events
FROM facts
WHERE transaction_id IS NOT NULL
GROUP BY transaction_id
HAVING count(*) FILTER (kind = 'opened' AND NOT is_joined) > 0; -- begun by somebody who is known
