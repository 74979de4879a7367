-- Does variant B succeed more often than A? With the 95 % interval of the difference of two proportions (Wald).
WITH rates AS (
    SELECT count(*) FILTER (WHERE variant = 'A') AS a, count(*) FILTER (WHERE variant = 'B') AS b,
        count(*) FILTER (WHERE variant = 'A' AND outcome = 'succeeded') / count(*) FILTER (WHERE variant = 'A') AS p_a,
        count(*) FILTER (WHERE variant = 'B' AND outcome = 'succeeded') / count(*) FILTER (WHERE variant = 'B') AS p_b
    FROM transactions
), differences AS (
    SELECT *, p_b - p_a AS difference, 1.96 * sqrt(p_a * (1 - p_a) / a + p_b * (1 - p_b) / b) AS margin FROM rates
)
SELECT a, b, round(p_a, 3) AS success_a, round(p_b, 3) AS success_b, round(difference, 3) AS difference,
    round(difference - margin, 3) AS low, round(difference + margin, 3) AS high,
    CASE WHEN difference - margin > 0 THEN 'B is better' WHEN difference + margin < 0 THEN 'A is better' ELSE 'no difference is shown' END AS answer
FROM differences;
